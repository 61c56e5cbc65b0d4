/**
 * The programs that stress a container, one for each tool that it may have. All do the same:
 *
 * 1. Arguments: how many processes or threads burn, each what share of a core in thousandths, after how many seconds
 *    without a line, and after how many in all, the program ends; then the files that are read.
 * 2. A line of standard input says how many bytes are to be held from now on; the first one also has the burning begin.
 *    At the beginning, and once it holds what a line says, the program prints the files (see `readings.ts`): so these
 *    show what is held. It adds the `stat` of its children, and the `status` of the one that holds the memory.
 * 3. It ends at any other line, at the end of its input, when it is not renewed by a line in time, and when a process
 *    of its own has ended: then it prints the files again, `!` and the status. Its children end when it does.
 *
 * It has the lowest priority in its container, and is the first that the kernel kills if memory runs out. It writes
 * nothing: the container may be read-only. What variables have the application's runtime load is not loaded (`-IS`,
 * `env`), except by the first thread of Node.js, of which a try-out shows the memory.
 */

/** In each program's text, and so in its command line: by it a person finds it. */
export const programMark = "chaos-experiments stress";

const perl = `# ${programMark}
use strict; use POSIX ();
my ($workers, $permille, $silence, $last, @files) = @ARGV;
my ($main, $lost, $input, $holding, %children) = ($$, undef, "", "");
$| = 1; $SIG{PIPE} = "IGNORE";
setpriority(0, 0, 19);
if (open my $f, ">", "/proc/self/oom_score_adj") { print $f 1000; close $f }
sub now { open my $f, "<", "/proc/uptime" or return time; (split " ", <$f>)[0] }
sub cpu { my @t = times; $t[0] + $t[1] }
sub start {
  my $pid = fork;
  return $lost = "no fork: $!" unless defined $pid;
  if ($pid) { $children{$pid} = 1; return $pid }
  shift->(); POSIX::_exit(0);
}
sub burn {
  my ($begun, $used) = (now(), cpu());
  while (getppid() == $main) {
    ($begun, $used) = (now(), cpu()) if now() - $begun >= 1;
    if ((cpu() - $used) * 1000 <= $permille * (now() - $begun)) { for (my $i = 0; $i < 50000; $i++) {} }
    else { select undef, undef, undef, 0.01 }
  }
}
sub hold {
  my ($from, $to) = @_; my ($text, @blocks) = ("");
  while (getppid() == $main) {
    my $in = ""; vec($in, fileno $from, 1) = 1;
    next unless select($in, undef, undef, 1) > 0;
    return unless sysread $from, $text, 4096, length $text;
    while ($text =~ s/^(\\d+)\\n//) {
      my $wanted = int($1 / 1048576);
      while (@blocks < $wanted) { push @blocks, chr(65 + @blocks % 26) x 1048576 }
      pop @blocks while @blocks > $wanted;
      syswrite $to, "\\n";
    }
  }
}
sub report {
  my $out = "";
  for my $file (@files, map("/proc/$_/stat", keys %children), "/proc/$holding/status") {
    open my $f, "<", $file or next;
    $out .= "=$file\\n";
    while (<$f>) { last if $. > 64; chomp; $out .= substr($_, 0, 200) . "\\n" }
  }
  print "$out.\\n";
}
report();
my ($holder, $holds, $begun); my $renewed = my $started = now();
until (defined $lost) {
  last if now() - $renewed > $silence or now() - $started > $last;
  while ((my $pid = waitpid -1, POSIX::WNOHANG()) > 0) { delete $children{$pid}; $lost = $? }
  my $in = ""; vec($in, 0, 1) = 1; vec($in, fileno $holds, 1) = 1 if $holds;
  next unless select($in, undef, undef, 0.2) > 0;
  if ($holds and vec($in, fileno $holds, 1)) { if (sysread $holds, my $one, 1) { report() } else { undef $holds } }
  next unless vec($in, 0, 1);
  last unless sysread STDIN, $input, 4096, length $input;
  while ($input =~ s/^(\\d+)\\n//) {
    my $bytes = $1; $renewed = now();
    if ($bytes > 0 and !$holder) {
      pipe my $from, $holder; pipe $holds, my $to;
      $holding = start(sub { close STDIN; close $holder; hold($from, $to) });
    }
    if (!$begun++) { start(sub { close STDIN; burn() }) for 1 .. $workers }
    if ($holder) { syswrite $holder, "$bytes\\n" } else { report() }
  }
  last if $input =~ /\\n/;
}
kill 9, keys %children; waitpid $_, 0 for keys %children;
if (defined $lost) { report(); print "!$lost\\n" }
`;

const python = `# ${programMark}
import mmap, os, select, signal, sys, time
workers, permille, silence, last = (int(one) for one in sys.argv[1:5])
main, children, lost, holder, holds, begun, text, holding = os.getpid(), set(), None, None, None, False, b"", ""
try: os.nice(19)
except OSError: pass
try:
    with open("/proc/self/oom_score_adj", "w") as file: file.write("1000")
except OSError: pass
def start(work):
    global lost
    try: pid = os.fork()
    except OSError as error:
        lost = "no fork: %s" % error
        return
    if pid:
        children.add(pid)
        return pid
    try:
        os.close(0)
        work()
    finally: os._exit(0)
def burn():
    at, used = time.monotonic(), time.process_time()
    while os.getppid() == main:
        now = time.monotonic()
        if now - at >= 1: at, used = now, time.process_time()
        if (time.process_time() - used) * 1000 <= permille * (now - at):
            for _ in range(50000): pass
        else: time.sleep(0.01)
def hold(source, done):
    blocks, text = [], b""
    while os.getppid() == main:
        if not select.select([source], [], [], 1)[0]: continue
        read = os.read(source, 4096)
        if not read: return
        text += read
        while b"\\n" in text:
            line, text = text.split(b"\\n", 1)
            wanted = int(line) // 1048576
            while len(blocks) < wanted:
                blocks.append(mmap.mmap(-1, 1048576, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
                blocks[-1].write(b"x" * 1048576)
            del blocks[wanted:]
            os.write(done, b"\\n")
def report():
    out = []
    for name in files + ["/proc/%s/stat" % pid for pid in children] + ["/proc/%s/status" % holding]:
        try:
            with open(name) as file: lines = file.read(65536).split("\\n")
        except OSError: continue
        out.append("=" + name)
        out.extend(line[:200] for line in lines[:64] if line)
    sys.stdout.write("\\n".join(out) + "\\n.\\n")
    sys.stdout.flush()
files = sys.argv[5:]
try:
    report()
    started = renewed = time.monotonic()
    while lost is None:
        now = time.monotonic()
        if now - renewed > silence or now - started > last: break
        while children:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid: break
            children.discard(pid)
            lost = status
        ready = select.select([0] if holds is None else [0, holds], [], [], 0.2)[0]
        if holds in ready:
            if os.read(holds, 1): report()
            else: holds = None
        if 0 not in ready: continue
        read = os.read(0, 4096)
        if not read: break
        text += read
        while b"\\n" in text and text.split(b"\\n", 1)[0].isdigit():
            line, text = text.split(b"\\n", 1)
            renewed = time.monotonic()
            if int(line) > 0 and holder is None:
                source, holder = os.pipe()
                holds, done = os.pipe()
                holding = start(lambda: (os.close(holder), hold(source, done)))
                os.close(done)
            if not begun:
                begun = True
                for _ in range(workers): start(burn)
            if holder is None: report()
            else: os.write(holder, line + b"\\n")
        if b"\\n" in text: break
finally:
    if os.getpid() == main:
        for pid in children: os.kill(pid, signal.SIGKILL)
        for pid in children: os.waitpid(pid, 0)
        if lost is not None:
            report()
            print("!%s" % lost, flush=True)
`;

/** Its times are in hundredths of a second. What reads and holds is a child, so that it can be waited for. */
const shell = `# ${programMark}
workers=$1 permille=$2 silence=$3 last=$4; shift 4
main=$$
sleep 0 2>/dev/null || exit 97
renice -n 19 -p $$ >/dev/null 2>&1
{ echo 1000 >/proc/self/oom_score_adj; } 2>/dev/null
now() { read -r up x </proc/uptime || exit 97; up=\${up%.*}\${up#*.}; }
cpu() { read -r x x state parent x x x x x x x x x user system x </proc/self/stat || exit; used=$((user + system)); }
burn() {
  now; cpu; begun=$up before=$used
  while [ "$parent" = "$main" ]; do
    now; cpu
    [ $((up - begun)) -lt 100 ] || { begun=$up before=$used; }
    if [ $permille -ge 1000 ] || [ $(((used - before) * 1000)) -le $((permille * (up - begun))) ]; then
      i=0; while [ $i -lt 3000 ]; do i=$((i + 1)); done
    else sleep 0.02 2>/dev/null || sleep 1; fi
  done
}
report() {
  for file; do
    [ -r "$file" ] || continue
    n=0
    { while IFS= read -r line && [ $n -lt 64 ]; do
      [ $n -gt 0 ] || printf '=%s\\n' "$file"
      n=$((n + 1)); printf '%s\\n' "$line"
    done <"$file"; } 2>/dev/null
  done
  for one in /proc/[0-9]*/stat; do
    line=
    { read -r line <$one; } 2>/dev/null
    case $line in *") "?" $main "*) printf '=%s\\n%s\\n' $one "$line";; esac
  done
  echo .
}
hold() {
  if [ $1 -gt $held ] && [ -z "$block" ]; then
    block=x; i=0; while [ $i -lt 20 ]; do block=$block$block; i=$((i + 1)); done
  fi
  while [ $held -lt $1 ]; do held=$((held + 1)); eval "block$held=\\$block"; done
  while [ $held -gt $1 ]; do unset block$held; held=$((held - 1)); done
}
serve() {
  held=0 block=
  while IFS= read -r wanted <&3; do
    case $wanted in ''|*[!0-9]*) break;; esac
    kill -s USR1 $main 2>/dev/null || exit
    hold $((wanted / 1048576))
    report "$@"
  done
  kill -s TERM $main 2>/dev/null
}
now; started=$up renewed= over= burning=
trap 'now; renewed=$up' USR1
trap 'over=1' TERM HUP INT
report "$@"
exec 3<&0
serve "$@" & server=$!
while [ -z "$over" ]; do
  now
  [ $((up - started)) -le $((last * 100)) ] && [ $((up - \${renewed:-$started})) -le $((silence * 100)) ] || break
  for one in $server $burning; do
    state=
    { read -r x x state x </proc/$one/stat; } 2>/dev/null
    case $state in Z|"") lost=$one; break 2;; esac
  done
  if [ -n "$renewed" ] && [ -z "$burning" ]; then
    n=0; while [ $n -lt $workers ]; do burn <&- >/dev/null 2>&1 3<&- & burning="$burning $!"; n=$((n + 1)); done
    burning="$burning "
  fi
  sleep 0.2 2>/dev/null & wait $!
done
kill -s KILL $server $burning 2>/dev/null
[ -z "$lost" ] || { wait $lost; lost=$?; }
wait
[ -z "$lost" ] || [ -n "$over" ] || { report "$@"; echo "!$lost"; }
`;

/**
 * The shell gives back what it held: without it, dash keeps 63 MiB where 20 are asked for. glibc maps blocks above a
 * limit, which rises once one was freed, and keeps smaller ones. A limit that is set stays.
 */
const withFixedMapLimit = 'export MALLOC_MMAP_THRESHOLD_=131072; exec sh -c "$@"';

/** Threads, and one process. An image of Node may have no shell. */
const node = `/* ${programMark} */
const [workers, permille, silence, last, ...files] = process.argv.slice(1).map((one) => Number(one) || one);
const { readFileSync, writeFileSync } = require("fs");
try { require("os").setPriority(19); } catch {}
try { writeFileSync("/proc/self/oom_score_adj", "1000"); } catch {}
const burn = \`
const { workerData: cores } = require("worker_threads");
const cpu = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1e6; };
const clock = () => Number(process.hrtime.bigint()) / 1e9;
const lock = new Int32Array(new SharedArrayBuffer(4));
for (let at = clock(), used = cpu(); ; ) {
  if (clock() - at >= 1) [at, used] = [clock(), cpu()];
  if (cpu() - used <= cores * (clock() - at)) for (let i = 0; i < 3e6; i++);
  else Atomics.wait(lock, 0, 0, 10);
}\`;
const blocks = [];
const started = process.uptime();
let renewed = started, text = "", begun = false;
function report() {
  let out = "";
  for (const file of files) {
    try {
      const lines = readFileSync(file, "utf8").split("\\n").filter(Boolean);
      out += "=" + file + "\\n" + lines.slice(0, 64).map((line) => line.slice(0, 200) + "\\n").join("");
    } catch {}
  }
  process.stdout.write(out + ".\\n");
}
process.stdout.on("error", () => process.exit(0));
process.stdin.on("error", () => process.exit(0)).on("end", () => process.exit(0)).on("data", (read) => {
  text += read;
  for (let end; (end = text.indexOf("\\n")) >= 0; text = text.slice(end + 1)) {
    if (!/^[0-9]+$/.test(text.slice(0, end))) process.exit(0);
    renewed = process.uptime();
    const wanted = Math.floor(Number(text.slice(0, end)) / 1048576);
    while (blocks.length < wanted) blocks.push(Buffer.alloc(1048576, 120));
    if (blocks.length > wanted) {
      blocks.length = wanted;
      require("v8").setFlagsFromString("--expose-gc");
      require("vm").runInNewContext("gc")();
    }
    if (!begun) for (let i = 0; i < workers; i++) {
      const { Worker } = require("worker_threads");
      const thread = new Worker(burn, { eval: true, env: {}, workerData: workers * permille / 1000 });
      thread.on("error", (error) => { console.log("!" + error.message); process.exit(1); });
    }
    begun = true;
    report();
  }
});
setInterval(() => {
  const now = process.uptime();
  if (now - renewed > silence || now - started > last) process.exit(0);
}, 200);
report();
`;

/** The small ones first: their memory is the container's, too. */
export const tools = {
    perl: (args: readonly string[]) => ["perl", "-e", perl, ...args],
    python3: (args: readonly string[]) => ["python3", "-IS", "-c", python, ...args],
    sh: (args: readonly string[]) => ["sh", "-c", withFixedMapLimit, "sh", shell, "stress", ...args],
    node: (args: readonly string[]) => ["node", "-e", node, "--", ...args],
    "/nodejs/bin/node": (args: readonly string[]) => ["/nodejs/bin/node", "-e", node, "--", ...args],
} as const satisfies Record<string, (args: readonly string[]) => string[]>;

export type Tool = keyof typeof tools;

interface ProgramArgs {
    /** How many processes or threads burn. 0 for none. */
    workers: number;
    /** What each takes of a core, in thousandths. */
    permille: number;
    /** After how many seconds in all it ends. */
    lastSeconds: number;
    /** What it reads. */
    files: readonly string[];
}

/** Of a program that reads the files and ends. */
export const onlyReads = { workers: 0, permille: 0, lastSeconds: 5 } as const satisfies Partial<ProgramArgs>;

/** Without a line for so long, a program ends by itself. */
const silenceSeconds = 10;

/** The command that stresses the container in which it is run. */
export const programOf = (tool: Tool, { workers, permille, lastSeconds, files }: ProgramArgs): string[] =>
    tools[tool]([...[workers, permille, silenceSeconds, lastSeconds].map(String), ...files]);
