/**
 * The meanings and remedies of topics. The users' reference is generated from them.
 *
 * The runtime reports without them, so a build for an edge platform leaves them out.
 *
 * @module
 */
import type { Severity } from "../cell/Severity.ts"
import { severities, type Topic } from "./Topic.ts"

/** The description of a topic. */
export interface TopicDescription {
  readonly severity: Severity
  /** The meaning, as a sentence without a full stop. */
  readonly means: string
  /** The remedy. */
  readonly remedy: string
}

const texts: Readonly<Record<Topic, Omit<TopicDescription, "severity">>> = {
  "backup/failed": {
    means: "A scheduled backup was not made. The backups before are as they were, and the next attempt follows within 5 minutes",
    remedy: "Find the cause by the code in the note: mostly the folder of backup.to, its permissions or the room on its disk"
  },
  "beat/aborted": {
    means: "A run was fatal. Its beat was not committed, and the next beat took the same input without that run",
    remedy: "Correct the error in the note, start the space again, and resend the dead letter"
  },
  "cell.store.readonly": {
    means: "A run wrote a sealed cell of the runtime, such as a dossier or a diagnostic, and became a dead letter",
    remedy: "Use the verbs for it in the enzyme, such as tx.op.setState and tx.report, and resend the dead letter"
  },
  "cell/type": {
    means: "Under systole dev: a module wrote a cell without its type, and the value does not fit the type. It is kept",
    remedy: "Write through the family or cell of that type, which refuses such a value"
  },
  "clock/ahead": {
    means: "The clock of the host is behind that of the space. The space goes on from its own clock, ahead of the host by an offset",
    remedy: "Correct the clock of the host, then set that of the space to it with systole space clock NAME --reset"
  },
  "clock/jump": {
    means: "The clock of the host was set ahead by over a day while a process ran, or its computer was asleep. " +
      "This time makes nothing older until it is confirmed",
    remedy: "None, if the computer was asleep; otherwise correct the clock of the host, and reset that of the space within a day"
  },
  "clock/slept": {
    means: "The space had no beat for over a day, and a new process opened it. This time makes nothing older until it is confirmed",
    remedy: "None. If the space did not sleep for so long, correct the clock of the host, and reset that of the space within a day"
  },
  "control/failed": {
    means: "A pause, rollback, resume or shutdown could not continue, and its operation failed",
    remedy: "Follow the note: release the lock, or choose a beat that the journal still has, and request it again"
  },
  "control/refused": {
    means: "A pause, rollback or resume was requested in a state of the space that does not allow it",
    remedy: "Read the state of the space, and request a transition that it allows"
  },
  "enzyme/held": {
    means: "Signals wait for an enzyme that is disabled at this start, or has a module that failed to load",
    remedy: "List the signals with systole space waiting; start with the enzyme enabled, or correct its module"
  },
  "flow/outgrown": {
    means: "A completion does not fit into the cell of its flow instance, so the instance is in error",
    remedy: "Keep large values in cells of their own and pass their addresses; start the flow again"
  },
  "io/channel-impaired": {
    means: "A job of a channel did not end after its abort. Its room is given to other jobs, as often as the channel has room",
    remedy: "Let each job of the channel end when its signal is aborted; start the process again, which ends the hung jobs"
  },
  "io/connection": {
    means: "A configured connection of a channel cannot be opened, or ended. It is opened again after 1 to 64 s",
    remedy: "Start the other side, or correct the options of the channel; a space that is detached takes messages after its release"
  },
  "io/inbound": {
    means: "Messages of a configured connection wait, because their space is full, or were dropped. It is reported once for a connection",
    remedy: "Correct the messages of the other side or the signal of the channel; let the space handle its waiting signals"
  },
  "io/late": {
    means: "A request completed after it was cancelled, taken back or timed out. Its result was dropped",
    remedy: "Use a longer deadline if the result was wanted; the other side may have done the work"
  },
  "io/thrown": {
    means: "A channel threw an error of its host or its code. The request failed with its code, and the record names its kind",
    remedy: "Read the error in the log; a channel throws Channel.fail for the failures that it expects"
  },
  "label/declassified": {
    means: "An enzyme declassified atoms that the configuration grants it",
    remedy: "None, if this is intended; otherwise remove the grant from the configuration"
  },
  "mailroom/catalog": {
    means: "The catalogue of the mailroom is damaged in the named scope, so no bucket was created",
    remedy: "Give each cell under /sys/err_cat a field mailroom.buckets with an object, and send /CEP:sig_sys/init again"
  },
  "mailroom/duplicate": {
    means: "A request was put into the lobby under a used name. The staged request is unchanged",
    remedy: "Use a new name for each request; a repeated request needs no action"
  },
  "module/broken": {
    means: "A module cannot be loaded or registered. The previous version of its file stays active",
    remedy: "Correct the error in the note; systole dev loads the file again when it changes"
  },
  "node/afresh": {
    means: "After a restart a node with children had another standpoint than before, so its children start anew",
    remedy: "Read cells instead of peeking at them, or peek at less: 4,096 characters are stored"
  },
  "node/busy": {
    means: "Nodes ran for more than 30 % of the time, for at least five seconds",
    remedy: "Find the most frequent ones in the graph; give them a debounce or a throttle, or let them read less"
  },
  "node/failed": {
    means: "A node failed. Its derived cell keeps the previous value; in a space with labels it is deleted",
    remedy: "Correct the node; it runs again when its code or its reads change"
  },
  "node/non-settling": {
    means: "Nodes changed their own reads repeatedly, and are delayed",
    remedy: "Let them converge to a stable value, or break the cycle"
  },
  "node/refused": {
    means: "A node does not run, because another node writes its output",
    remedy: "Derive another cell, or withdraw the other node; the refused one then starts"
  },
  "node/undelivered": {
    means: "The deliver function of an effect failed, and is not called again with the same value",
    remedy: "Correct the function; use an event for a message that must arrive"
  },
  "node/unstable": {
    means: "A node derived a different value from equal reads in its second run, which the development check makes",
    remedy: "Derive from reads only, and set values instead of adding to them"
  },
  "op/tmo": {
    means: "A request missed its deadline. Its enzyme received the result io/timeout",
    remedy: "Use a longer budget or timeoutMs, or find out why the other side is slow"
  },
  "ops/watchers": {
    means: "An awaited state of an operation did not come in time, or cannot come any more",
    remedy: "Use a longer ttl, or close the operation when its work ends; the awaiting enzyme receives /op/tmo"
  },
  "outbox/expired": {
    means: "Another space confirmed no delivery for 0.7 of retention.receiptMillis. The signals are dead letters of the sender",
    remedy: "Look in the other space whether they were handled, and resend the letters of the others"
  },
  "outbox/waiting": {
    means: "Another space does not accept signals. They stay in the outbox, and delivery is retried",
    remedy: "Find the cause in the note; the signals leave in order when the space accepts them again"
  },
  "persist.async": {
    means: "Several groups of beats and signals wait behind a flush that takes long or is repeated",
    remedy: "Look at /rt/analytics/persist; use a faster disk or database, or send less"
  },
  "persist.async.tmo": {
    means: "A flush exceeded its time limit: the space opened again, and its beats have ist:fail. Or a pause cancelled a request",
    remedy: "Check the disk or the database; raise limits.flushMillis if it is slow. Pause a space when its requests are over"
  },
  "persist.flush.fail": {
    means: "A flush failed, or the space stopped before it, and opened again. The beats that were lost have the state ist:fail",
    remedy: "Check the disk or the database by the code; requests that were answered with 503 can be sent again"
  },
  "persist.recover": {
    means: "A frame had content by reference, and its import found it in no store. Reads say that it is absent",
    remedy: "Send the content to the space with PUT /v1/spaces/NAME/blobs, or import a frame with --content inline"
  },
  "registry/cycle": {
    means: "The before and after lists of enzymes for one signal form a cycle, so none of them ran",
    remedy: "Remove one of the names, and send the signal again"
  },
  "run/code-missing": {
    means: "A durable run began with a module that cannot be loaded, and its log does not fit the present one. The run is held",
    remedy: "Start a build with that module (systole build --keep), load a module that makes the same calls, or cancel the run"
  },
  "run/conflict": {
    means: "A run lost several times in a row to other runs that wrote the same place",
    remedy: "Let fewer enzymes write there, or use increment, append and merge, which do not conflict"
  },
  "run/dead": {
    means: "A handling failed permanently and is a dead letter",
    remedy: "Correct the enzyme or its input, and resend the dead letter"
  },
  "run/late-hear": {
    means: "A durable run began to hear a signal after an await. In development, it is reported although none is lost yet",
    remedy: "Declare the signal in hears, or call tx.hear before the call that provokes it"
  },
  "run/stale-risk": {
    means: "A durable run read a cell before an await and wrote it after. In development, it is reported while it still succeeds",
    remedy: "Read the cell again after the await, use increment, or declare order: \"strict\"; otherwise it may fail with run/stale"
  },
  "run/stuck": {
    means: "A process ended, or a beat was aborted, during a run. The run is retried once, and then becomes a dead letter",
    remedy: "Make the run return within its limits of time and memory, without process.exit, and resend the dead letter"
  },
  "run/unawaited": {
    means: "A durable run ended with an open request that it did not await, or whose code an interruption left behind. " +
      "The request is cancelled with the run",
    remedy: "Await the request, cancel it with its method cancel(), give it the AbortSignal of Effect.promise, or give it the path " +
      "of a signal, with which it lives on after the run"
  },
  "run/undo-lost": {
    means: "A durable run ended by its cancellation, and the segment that undoes its effects was refused. Nothing of it is kept",
    remedy: "Undo the effects by other means; read again what the undo writes from, and let it write less"
  },
  "runtime/accident": {
    means: "An unexpected failure in the runtime, or in code that a module left running",
    remedy: "Run with SYSTOLE_DEBUG=1 to see its place; end all timers and promises of a module with its run"
  },
  "rv/quarantine": {
    means: "A rendezvous is in quarantine: it was late too often, or a report named absent content",
    remedy: "Read its telemetry; release it with systole rv release, so that its next correct report is accepted, or kill it"
  },
  "schedule/space-unknown": {
    means: "An enzyme has a schedule in a space that does not exist, so none of its events comes there",
    remedy: "Create the space: systole space create NAME; name others in the schedule; or give the configuration another spaces.first"
  },
  "signal/no-match": {
    means: "Under systole dev: no enzyme took a signal. It is over, and an event has a receipt",
    remedy: "Use the nearest query that the note names, bind the enzyme at the target, or give an enzyme this query"
  },
  "space/stopped": {
    means: "A space stopped because its store failed. Requests without a durable result were answered with 503",
    remedy: "Check the disk or the database. The space opens in its durable state at the next request, or 1, 2, 4 … 60 s later"
  },
  "store/trouble": {
    means: "A store cannot be opened, read or written",
    remedy: "Check the file or the database in the note"
  },
  "telemetry/failed": {
    means: "The telemetry of a plugin cannot be built. The runtime goes on without its loggers, tracer and exporters",
    remedy: "Correct the error in the note, such as an option of its layer, and start again"
  },
  "thread/held": {
    means: "Code outside of runs holds the thread, so no space goes on: often a channel. The line names it if it is known, " +
      "else the channels with jobs in progress. Only the watchdog says so, on standard error",
    remedy: "Let the channel yield, or do its work on a thread of its own, such as that of the channel worker"
  },
  "tp_async_unsp": {
    means: "A channel works on a thread instead of the host's asynchronous interfaces. Told once per channel and opening",
    remedy: "None, if this is intended; otherwise use a channel with native asynchronous work"
  }
}

const described = (): Readonly<Record<Topic, TopicDescription>> => {
  const entries = Object.entries(texts) as Array<[Topic, Omit<TopicDescription, "severity">]>
  const described = entries.map(([topic, text]) => [topic, { severity: severities[topic], ...text }])
  return Object.fromEntries(described) as Record<Topic, TopicDescription>
}

/**
 * The topics of the runtime.
 *
 * @category models
 * @since 0.1.0
 */
export const topics = /* @__PURE__ */ described()
