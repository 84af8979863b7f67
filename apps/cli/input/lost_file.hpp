// What happens when a mapped file is shortened, or its disk fails, while it is read.
#pragma once

namespace bloomery::cli {

// The system raises SIGBUS then. From now on that is one line, with the name of the file, and exit
// status 2. What is half written has no name yet, or the next run removes it.
void tell_of_lost_files();

}  // namespace bloomery::cli
