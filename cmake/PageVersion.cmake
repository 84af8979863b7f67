# Writes the page's service worker, TARGET, from SOURCE with the version of the page in it: a hash
# of all its FILES and of the worker itself. Browsers install a service worker again when its bytes
# change, and with it all files.
set(hashes)
foreach(file IN LISTS FILES SOURCE)
  file(SHA256 "${file}" hash)
  string(APPEND hashes ${hash})
endforeach()
string(SHA256 page_version "${hashes}")
string(SUBSTRING ${page_version} 0 16 page_version)
configure_file("${SOURCE}" "${TARGET}" @ONLY)
