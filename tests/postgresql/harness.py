"""Throwaway PostgreSQL servers with the extension, for the tests and for bench/sql.

The server is a copy of the installed one in a folder of its own: PostgreSQL finds its libraries and
scripts beside its program, so the extension is installed there with the build's own install step,
and the system stays as it was. Servers run as an unprivileged user and listen on a socket in the
folder only.
"""
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def unprivileged():
    """The command that runs another as somebody without rights; root may not run a server."""
    if os.getuid() != 0:
        return [], None
    for name in ("nobody", "daemon"):
        try:
            user = pwd.getpwnam(name)
        except KeyError:
            continue
        return ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"], user
    skip("no unprivileged user")


class installation:
    """A copy of the server with the extension."""

    def __init__(self, build, bindir):
        bindir = Path(bindir)
        if not (bindir / "initdb").exists():
            skip("no PostgreSQL server (Debian: postgresql-15)")
        self.as_user, self.user = unprivileged()
        self.root = Path(tempfile.mkdtemp(prefix="bloomery_pg_", dir="/tmp"))
        self.bin = self.root / bindir.relative_to("/")
        config = subprocess.run([bindir / "pg_config"], capture_output=True, text=True, check=True).stdout
        places = dict(line.split(" = ", 1) for line in config.splitlines())
        self.bin.mkdir(parents=True)
        for program in ("postgres", "initdb"):
            shutil.copy2(bindir / program, self.bin)
        for program in ("psql", "pg_dump"):
            (self.bin / program).symlink_to(bindir / program)
        for place in ("PKGLIBDIR", "SHAREDIR"):
            self.mirror(Path(places[place]))
        subprocess.run(["cmake", "--install", build, "--component", "postgresql"], check=True, capture_output=True,
                       env={**os.environ, "DESTDIR": str(self.root)})
        self.extensions = self.root / Path(places["SHAREDIR"]).relative_to("/") / "extension"
        self.root.chmod(0o755)
        self.data = self.root / "data"
        self.data.mkdir()
        if self.user:
            os.chown(self.data, self.user.pw_uid, self.user.pw_gid)
        self.servers = []

    def mirror(self, folder):
        """Links to all that is in a folder, so that other files can lie beside it and its
        extensions.
        """
        target = self.root / folder.relative_to("/")
        target.mkdir(parents=True)
        for file in folder.iterdir():
            if file.name == "extension":
                self.mirror(file)
            elif not file.name.startswith("bloomery"):
                (target / file.name).symlink_to(file)

    def run(self, *command, **options):
        return subprocess.run([*self.as_user, *map(str, command)], check=True, capture_output=True, text=True,
                              cwd=self.data, **options)

    def start(self, name, *settings, wrapper=()):
        started = server(self, name, settings, wrapper)
        self.servers.append(started)
        return started

    def close(self):
        for one in self.servers:
            one.stop()
        shutil.rmtree(self.root, ignore_errors=True)


class server:
    SETTINGS = ("fsync=off", "full_page_writes=off", "synchronous_commit=off", "listen_addresses=",
                "shared_buffers=64MB", "autovacuum=off", "wal_level=minimal", "max_wal_senders=0",
                "min_parallel_table_scan_size=0", "parallel_setup_cost=0", "parallel_tuple_cost=0")

    def __init__(self, place, name, settings, wrapper):
        self.place = place
        self.folder = place.data / name
        first = place.servers[0].folder if place.servers else None
        if first is None:
            place.run(place.bin / "initdb", "-D", self.folder, "-U", "tester", "--no-sync", "--no-instructions",
                      "-E", "UTF8", "--locale=C", "-A", "trust")
            (self.folder / "postgresql.conf").write_text("")
            self.pristine = place.data / "pristine"
            place.run("cp", "-r", self.folder, self.pristine)
        else:
            place.run("cp", "-r", place.servers[0].pristine, self.folder)
        self.log = place.data / f"{name}.log"
        options = [part for setting in (*self.SETTINGS, f"unix_socket_directories={self.folder}", *settings)
                   for part in ("-c", setting)]
        # Not its own pg_ctl: the process is ours, and ends with us.
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen([*place.as_user, *wrapper, place.bin / "postgres", "-D", self.folder, *options],
                                            stdout=log, stderr=log)
        self.wait()

    def wait(self):
        for _ in range(600):
            ready = subprocess.run(self.psql_command("-c", "SELECT 1"), capture_output=True)
            if ready.returncode == 0:
                return
            if self.process.poll() is not None:
                raise RuntimeError(self.log.read_text())
            subprocess.run(["sleep", "0.05"])
        raise RuntimeError("the server does not answer")

    def psql_command(self, *arguments, database="postgres"):
        return [self.place.bin / "psql", "-X", "-q", "-h", self.folder, "-U", "tester", "-d", database, *arguments]

    def script(self, text, database="postgres"):
        """What psql prints for a script, errors included; it goes on after an error."""
        done = subprocess.run(self.psql_command("-At", "-v", "VERBOSITY=verbose", database=database),
                              input=text.encode(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.stdout.decode()

    def sql(self, text, database="postgres"):
        """The rows that a script prints; an error of it is raised."""
        done = subprocess.run(self.psql_command("-At", "-v", "ON_ERROR_STOP=1", database=database), input=text,
                              capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{text[:500]}\n{done.stderr}")
        return done.stdout.strip()

    def single(self, text, *wrapper):
        """The errors of a script in one process without a network, which a wrapper such as valgrind
        can watch.
        """
        command = [*self.place.as_user, *wrapper, self.place.bin / "postgres", "--single", "-j", "-D", self.folder, "postgres"]
        done = subprocess.run(command, input=text.encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              cwd=self.place.data)
        return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(2)  # ends sessions and shuts down
            self.process.wait()
