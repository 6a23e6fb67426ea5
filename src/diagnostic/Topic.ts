/**
 * Topics: every kind of failure that the runtime reports, with its meaning and remedy.
 *
 * This is the only list; the users' reference is generated from it. Reports of enzymes have topics of their own.
 *
 * @module
 */
import type { Severity } from "../cell/Severity.ts"

/** The description of a topic. */
export interface Described {
  readonly severity: Severity
  /** The meaning, as a sentence without a full stop. */
  readonly means: string
  /** The remedy. */
  readonly remedy: string
}

/**
 * The topics of the runtime.
 *
 * @category models
 * @since 0.1.0
 */
export const topics = {
  "beat/aborted": {
    severity: "sev:fatal",
    means: "A run was fatal: its beat was not committed, and the next one took the same input without it",
    remedy: "Mend what the run complains of, start the space again, and send the dead letter again"
  },
  "cell.store.readonly": {
    severity: "sev:usage",
    means: "A run wrote at a sealed part of the runtime, such as a dossier or a fact, so it is a dead letter",
    remedy: "Have the enzyme use the verbs that are made for it, such as tx.op.setState and tx.report, and send the dead letter again"
  },
  "control/failed": {
    severity: "sev:crit",
    means: "A pause, rollback, resume or shutdown could not go on, and its operation failed",
    remedy: "Look into the note: release the lock, or choose a beat that the journal still has, and ask again"
  },
  "control/refused": {
    severity: "sev:usage",
    means: "A pause, rollback or resume was asked for when the space could not do it",
    remedy: "Look how the space stands, and ask for what it can do from there"
  },
  "enzyme/held": {
    severity: "sev:warn",
    means: "Signals wait that only an enzyme takes which is left out at this start, or whose module failed to load",
    remedy: "See what waits with systole space waiting; start without leaving the enzyme out, or mend its module"
  },
  "flow/outgrown": {
    severity: "sev:crit",
    means: "A completion does not fit the cell of an instance beside what that has already, so the instance is in error",
    remedy: "Report and give as input what names large values, and keep those in cells of their own; start the flow again"
  },
  "label/declassified": {
    severity: "sev:debug",
    means: "An enzyme left out atoms that the configuration grants it to declassify",
    remedy: "Nothing, where that is meant; else take the grant out of the configuration"
  },
  "mailroom/catalog": {
    severity: "sev:crit",
    means: "The catalogue of the mailroom is damaged in the scope that is named, so no bucket was made",
    remedy: "Give each cell under /sys/err_cat a field mailroom.buckets with an object, and send /CEP:sig_sys/init again"
  },
  "mailroom/duplicate": {
    severity: "sev:usage",
    means: "A request was put into the lobby under a name that came before. The one that is staged stays as it is",
    remedy: "Put each request under a name of its own; one that is sent again needs nothing"
  },
  "module/broken": {
    severity: "sev:crit",
    means: "A module cannot be loaded or registered; what its file held before goes on",
    remedy: "Mend what the note complains of; under systole dev the file is looked at again when it changes"
  },
  "node/afresh": {
    severity: "sev:warn",
    means: "After a restart a node that starts others took another standpoint than before, so what it starts begins anew",
    remedy: "Have it read what it peeks at, or peek at less of it: 4,096 characters are kept"
  },
  "node/busy": {
    severity: "sev:warn",
    means: "Nodes run for more than three tenths of the time, for five seconds or more",
    remedy: "See in the graph which run most often; give them a debounce or a throttle, or have them read less"
  },
  "node/failed": {
    severity: "sev:crit",
    means: "A node failed, and what it derives stays as it was; in a space with labels it is gone",
    remedy: "Mend the node; it runs again when its code changes, or what it reads"
  },
  "node/non-settling": {
    severity: "sev:warn",
    means: "Nodes changed what they read themselves, again and again, and are put off",
    remedy: "Have them reach a value that does not change any more, or break the circle"
  },
  "node/refused": {
    severity: "sev:crit",
    means: "A node does not run, because another one writes what it derives",
    remedy: "Have it derive another cell, or withdraw the other one; it is taken in when that is gone"
  },
  "node/undelivered": {
    severity: "sev:crit",
    means: "An effect failed at what it was told, and is not told the same again",
    remedy: "Mend its deliver; what has to reach the outside for certain is an event of its own"
  },
  "node/unstable": {
    severity: "sev:warn",
    means: "A node made something else of the same values when it ran a second time, which the check in development does",
    remedy: "Derive from what is read alone, and write values rather than add to what is there"
  },
  "ops/watchers": {
    severity: "sev:warn",
    means: "What was awaited of an operation did not come in time, or never can",
    remedy: "Give a longer ttl, or close the operation where its work ends; the awaiting enzyme gets /op/tmo"
  },
  "outbox/waiting": {
    severity: "sev:warn",
    means: "Another space does not take what is sent to it; it stays in the outbox and is tried again",
    remedy: "See to the other space by the note; what waits goes out, in order, when it takes signals again"
  },
  "registry/cycle": {
    severity: "sev:usage",
    means: "Enzymes that take one signal contradict each other by before and after, so none of them ran",
    remedy: "Take out one of the names, and send the signal again"
  },
  "run/conflict": {
    severity: "sev:warn",
    means: "A run lost several times in a row to other runs that wrote the same place",
    remedy: "Have fewer enzymes write there, or use increment, append and merge, which do not conflict"
  },
  "run/dead": {
    severity: "sev:crit",
    means: "A handling failed for good, and is a dead letter",
    remedy: "Mend the enzyme, or what it asks for, and send the dead letter again"
  },
  "run/stuck": {
    severity: "sev:crit",
    means: "A process ended, or a beat broke off, while a run was under way; " +
      "the run is tried once more, and is a dead letter after the second time",
    remedy: "Have the run return within its limit, without process.exit and in the memory there is, and send the dead letter again"
  },
  "runtime/accident": {
    severity: "sev:crit",
    means: "Something failed that nobody expects: in the runtime, or left behind by a module",
    remedy: "Run with SYSTOLE_DEBUG=1, which shows where; a module's timers and promises are to end with its run"
  },
  "rv/quarantine": {
    severity: "sev:warn",
    means: "A rendezvous is in quarantine: it was late once too often, or a report named content that is not kept",
    remedy: "Look at its telemetry, and release it with systole rv release, so that its next correct report is taken; or kill it"
  },
  "space/stopped": {
    severity: "sev:crit",
    means: "A space stopped because its store failed; what was not durable was answered with 503",
    remedy: "See to the disk or the database; the space opens from what is durable when it is next asked for"
  },
  "store/trouble": {
    severity: "sev:crit",
    means: "A store cannot be opened, read or written",
    remedy: "See to the file or the database that it names"
  }
} as const satisfies Readonly<Record<string, Described>>

/** The name of a topic of the runtime. */
export type Topic = keyof typeof topics
