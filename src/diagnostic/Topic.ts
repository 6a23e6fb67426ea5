/**
 * Topics: every kind of failure that the runtime reports, with its severity. `TopicReference` describes them.
 *
 * This is the only list of their names. Reports of enzymes have topics of their own.
 *
 * @module
 */
import type { Severity } from "../cell/Severity.ts"

/** The severities of the topics. */
export const severities = {
  "backup/failed": "sev:crit",
  "beat/aborted": "sev:fatal",
  "cell.store.readonly": "sev:usage",
  "cell/type": "sev:warn",
  "clock/ahead": "sev:crit",
  "clock/jump": "sev:warn",
  "clock/slept": "sev:debug",
  "control/failed": "sev:crit",
  "control/refused": "sev:usage",
  "enzyme/held": "sev:warn",
  "flow/outgrown": "sev:crit",
  "io/channel-impaired": "sev:crit",
  "io/connection": "sev:warn",
  "io/inbound": "sev:warn",
  "io/late": "sev:warn",
  "io/thrown": "sev:warn",
  "label/declassified": "sev:debug",
  "mailroom/catalog": "sev:crit",
  "mailroom/duplicate": "sev:usage",
  "module/broken": "sev:crit",
  "node/afresh": "sev:warn",
  "node/busy": "sev:warn",
  "node/failed": "sev:crit",
  "node/non-settling": "sev:warn",
  "node/refused": "sev:crit",
  "node/undelivered": "sev:crit",
  "node/unstable": "sev:warn",
  "op/tmo": "sev:warn",
  "ops/watchers": "sev:warn",
  "outbox/expired": "sev:crit",
  "outbox/waiting": "sev:warn",
  "persist.async": "sev:warn",
  "persist.async.tmo": "sev:crit",
  "persist.flush.fail": "sev:crit",
  "persist.recover": "sev:warn",
  "registry/cycle": "sev:usage",
  "run/code-missing": "sev:crit",
  "run/conflict": "sev:warn",
  "run/dead": "sev:crit",
  "run/late-hear": "sev:warn",
  "run/stale-risk": "sev:warn",
  "run/stuck": "sev:crit",
  "run/unawaited": "sev:warn",
  "run/undo-lost": "sev:crit",
  "runtime/accident": "sev:crit",
  "rv/quarantine": "sev:warn",
  "schedule/space-unknown": "sev:warn",
  "signal/no-match": "sev:warn",
  "space/stopped": "sev:crit",
  "store/trouble": "sev:crit",
  "telemetry/failed": "sev:crit",
  "thread/held": "sev:crit",
  "tp_async_unsp": "sev:debug"
} as const satisfies Readonly<Record<string, Severity>>

/** The key of the topic with which an error of the runtime is reported. */
export const TOPIC: unique symbol = Symbol("systole/diagnostic/Topic")

/** The name of a topic of the runtime. */
export type Topic = keyof typeof severities
