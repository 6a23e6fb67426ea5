/**
 * The work that no caller awaits: each place of the sources that starts a fiber, a timer or a promise of its own, with its owner and
 * the way of its failure. The architecture test compares this list with the sources.
 *
 * `Fibers.background`, `Runner.background` and `Daemon.every` report by themselves, and are not listed.
 *
 * @module
 */

/** A file with such places: the starts, each as often as the code has it, with their end and their failure. */
export interface Background {
  readonly file: string
  readonly starts: ReadonlyArray<string>
  /** The scope, the caller or the event that ends it. */
  readonly owner: string
  /** The way of an error, also of an unexpected one. */
  readonly failure: string
}

/** Starts of work beside its caller; `catch` drops a failure. */
const START = new RegExp([
  /\bEffect\.(?<effect>runFork\w*|runCallback\w*|forkDetach|forkIn|forkScoped|forkChild|forever)\b/,
  /(?<![.\w])(?<timer>setTimeout|setInterval|setImmediate|queueMicrotask)\(/,
  /(?<!Scope\.)\b(?<fork>fork)\(/,
  /\.(?<dropped>catch)\(\(\) => (?:\{\}|undefined)\)/,
  /\b(?<wait>waitUntil)\(/,
  /\b(?<promise>void) (?:(?:this\.)?(?:send|receive|watch|refuse|execute|tidy|hand)\(|(?:Promise|told|settled|platform|source|host)\.)/
].map(({ source }) => source).join("|"), "g")

/** Strings, templates and comments as wholes. */
const LEXEME = /"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`|\/\*[\s\S]*?\*\/|\/\/.*$/gm

/** The starts in the text of a file. */
export const startsIn = (text: string): ReadonlyArray<string> =>
  [...text.replace(LEXEME, "``").matchAll(START)].map(({ groups = {} }) => Object.values(groups).find((name) => name !== undefined) ?? "")

type Row = readonly [file: string, starts: string, owner: string, failure: string]

const DROPPED = "its caller, which goes on without it"
const rows: ReadonlyArray<Row> = [
  ["src/access/JwtSet.ts", "catch", "its key set", "each request that waits for the keys gets it"],
  ["src/access/TokenSet.ts", "catch", DROPPED, "dropped: the day of the last use is written again with the next use"],
  ["src/archive/BackupSchedule.ts", "forkDetach", "the schedule, which waits for it or gives it up", "reported with the space"],
  ["src/archive/ReferencedContent.ts", "catch catch", DROPPED, "dropped: the content counts as absent"],
  ["src/cli/AnswerBody.ts", "catch", DROPPED, "dropped: the body is over"],
  ["src/cli/command/ServeCommand.ts", "forkScoped", "the command", "the command joins it"],
  ["src/client/Exchange.ts", "void", "the request, which ends the sleep", "none: a sleep of the platform"],
  ["src/client/Follow.ts", "catch void", "the connection, whose signal ends both", "dropped: the body is over; none: a sleep"],
  ["src/client/Platform.ts", "setTimeout", "the signal of the sleep", "none: it resolves a promise"],
  ["src/diagnostic/Daemon.ts", "forever", "the fiber that runs it", "handed to `failed`, and the next pass comes"],
  ["src/diagnostic/Telemetry.ts", "runForkWith", "itself: a log line", "that of a logger of an application, which nothing else could log"],
  ["src/durable/EffectBody.ts", "void", "the segment, which cancels it", "that of a fiber of the run, which has its own exit"],
  ["src/frame/Deflate.ts", "catch", "its caller", "the caller refuses the frame"],
  ["src/ingress/route/Archive.ts", "fork", "the runtime, with the sessions of exports and imports", "reported by Runner.background"],
  ["src/ingress/wire/Runner.ts", "fork runForkWith fork", "the scope of `hold`, or the signal", "its observer gets it"],
  ["src/ingress/wire/Transfers.ts", "forever", "the race with a free place", "the download gets it"],
  ["src/kernel/api/Access.ts", "fork", "the kernel", "the poster of the signal gets it"],
  ["src/kernel/beat/loop/CommitHandshake.ts", "fork", "the kernel, or the abort of the handshake", "the group stops the space"],
  ["src/kernel/beat/step/Run.ts", "runForkWith void", "the limit of the run", "it is the outcome of the run"],
  ["src/kernel/live/EffectDelivery.ts", "void", "the effect itself; `idle` waits for it", "reported as node/undelivered"],
  ["src/kernel/live/LargeUploads.ts", "void", "itself: one page of a list", "reported"],
  ["src/kernel/live/OutboxRelay.ts", "void void void fork void", "the stop of the relay", "it stops the space, or they are sent again"],
  ["src/kernel/live/Uploads.ts", "void catch", "the source of the upload", "dropped: the upload is over"],
  ["src/kernel/model/Fibers.ts", "fork fork runForkWith", "the scope of the kernel", "its observer gets the exit; `background` reports it"],
  ["src/kernel/space/DueSpaces.ts", "fork", "the kernel", "reported, and the space is opened again later"],
  ["src/kernel/space/ScheduledSpaces.ts", "fork", "the kernel", "reported for each space"],
  ["src/loader/TimedLayer.ts", "forkDetach forkDetach", "its limit, which interrupts it", "the caller of the layer joins it"],
  ["src/main/DenoServe.ts", "setTimeout", "itself: one turn", "none: it resolves a promise"],
  ["src/main/Main.ts", "catch", "its caller", "another port is tried"],
  ["src/main/build/Build.ts", "catch", "its caller", "the file counts as absent"],
  ["src/main/composition/Project.ts", "forkIn", "the scope of the project", "reported by Daemon.every"],
  ["src/main/host/HostPacemaker.ts", "setTimeout setTimeout", "its cancellation; a kernel cancels all", "the group stops its space"],
  ["src/main/host/HostTurn.ts", "setImmediate setImmediate", "itself: one turn", "the group stops its space"],
  ["src/main/host/IdleCollector.ts", "setTimeout", "the idle time", "no collection follows a failed one"],
  ["src/main/module/KnownModules.ts", "catch catch", "its caller", "the file counts as changed or absent"],
  ["src/main/module/ModuleFolder.ts", "catch", "its caller", "the file counts as absent"],
  ["src/main/module/WatchedFolders.ts", "catch", "its caller", "the file counts as absent"],
  ["src/main/testing/HungRuns.ts", "setTimeout", "the end of the run", "the test fails with it"],
  ["src/main/testing/MockTransport.ts", "queueMicrotask", "itself: one turn", "the test fails with it"],
  ["src/main/testing/TestPacemaker.ts", "setImmediate setTimeout runForkWith", "the test", "the test fails with it"],
  ["src/main/testing/TestSpace.ts", "setTimeout", "itself: one turn", "none: it resolves a promise"],
  ["src/main/watchdog/HostWatchdog.ts", "setImmediate setInterval", "the scope of the watchdog", "none: writes to shared memory"],
  ["src/main/watchdog/ParentProcess.ts", "setInterval", "the process", "none: its reads are guarded"],
  ["src/main/watchdog/WatchdogThread.ts", "setInterval", "the thread, which its host ends", "printed once, and the next look comes"],
  ["src/main/workers/Alarm.ts", "catch catch catch catch", "the platform's output gate", "the platform resets the object"],
  ["src/main/workers/Peers.ts", "queueMicrotask void", "the call of the other object", "the sender of each signal gets it"],
  ["src/main/workers/Sockets.ts", "fork", "the socket", "the socket is closed with its code"],
  ["src/main/workers/SpaceHost.ts", "catch", "its caller", "the next call opens the runtime, and gets it"],
  ["src/main/workers/StoredHold.ts", "catch catch", "the platform's output gate", "the platform resets the object"],
  ["src/main/workers/Turns.ts", "queueMicrotask setTimeout", "itself: one turn", "the group stops its space"],
  ["src/persistence/LargeObjects.ts", "catch", DROPPED, "dropped: the collection of the store deletes the objects later"],
  ["src/react/CellStream.ts", "void", "itself: one microtask", "none: it closes a stream"],
  ["src/reactor/JobQueue.ts", "void void", "the job", "the ledger of the request gets it; one of its space is reported"],
  ["src/reactor/Reactor.ts", "runForkWith", "the scope of the reactor, or its cancellation", "reported"],
  ["src/registry/ServiceLayer.ts", "void runForkWith", "its limit of time, which interrupts it", "the loading of the plugin gets it"],
  ["src/scheduler/definition/Definition.ts", "void catch", "the run, which is refused", "dropped: the run failed before"],
  ["plugins/agent/store/Lease.ts", "forkScoped forever", "the scope of the lease", "dropped: each write looks at the lease before"],
  ["plugins/agent/wake/Course.ts", "fork fork fork forkChild", "the wake", "the wake joins it"],
  ["plugins/channel/OpenFolder.ts", "catch", "its caller", "the place is refused"],
  ["plugins/connection/Connection.ts", "catch", DROPPED, "dropped: the connection is over"],
  ["plugins/connection/Duplex.ts", "queueMicrotask", "itself: one microtask", "none: it tells of the end"],
  ["plugins/connection/Exchange.ts", "setTimeout catch", "the request", "the request gets it"],
  ["plugins/connection/FrameLine.ts", "queueMicrotask", "itself: one microtask", "that of the hearer of an event"],
  ["plugins/connection/Wait.ts", "setTimeout", "the request", "the request gets it"],
  ["plugins/file/FolderWatcher.ts", "void", "the watch, which closes it", "the watch fails with it"],
  ["plugins/file/Watches.ts", "catch", "the request", "the request gets it"],
  ["plugins/frame/FrameTransfers.ts", "setTimeout catch", "the frame, or the channel", "dropped: what is left of the file is never named"],
  ["plugins/frame/Spans.ts", "catch", "its caller", "each caller gets that of its own part"],
  ["plugins/http/Deadline.ts", "setTimeout", "the request", "the request gets it"],
  ["plugins/http/FetchTransport.ts", "catch", "the request", "dropped: the body is over"],
  ["plugins/pipe/Fifo.ts", "catch catch catch catch", DROPPED, "dropped: the pipe is over"],
  ["plugins/shell/ProcessGroup.ts", "setTimeout setTimeout setTimeout setImmediate", "the process, or its end", "the request gets it"]
]

/** All files with such places. */
export const all: ReadonlyArray<Background> = rows.map(([file, starts, owner, failure]) =>
  ({ file, starts: starts.split(" "), owner, failure }))
