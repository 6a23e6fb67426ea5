/**
 * The first-party enzyme that processes the flow requests of the mailroom.
 *
 * A request in `inst_start` starts an instance. A request in `inst_ctrl` controls an instance or a rendezvous.
 * The enzyme writes the `outcome` into the request, and a `code` if the start is refused.
 *
 * @module
 */
import { Enzyme, type FlowBudget, type Transaction } from "systole"

/** The fields of a request. */
interface Request extends FlowBudget {
  readonly flow?: string
  readonly inst?: string
  readonly input?: unknown
  readonly action?: string
  readonly key?: string
  readonly delta?: number
  readonly wait?: number
  readonly telemetry?: Readonly<Record<string, unknown>>
}

/** The control actions. Each returns whether it was applied. */
const actions: Readonly<Record<string, (tx: Transaction, request: Request) => boolean>> = {
  pause: (tx, { inst = "" }) => tx.flow.pause(inst),
  resume: (tx, { inst = "" }) => tx.flow.resume(inst),
  cancel: (tx, { inst = "" }) => tx.flow.cancel(inst),
  budget: (tx, { beats, inst = "", steps }) => tx.flow.budget(inst, { beats, steps }),
  rv_resched: (tx, { delta = 0, key = "" }) => tx.rv.resched(key, delta),
  rv_kill: (tx, { key = "", wait = 0 }) => tx.rv.kill(key, { wait }),
  rv_report: (tx, { key = "", telemetry = {} }) => tx.rv.report(key, telemetry)
}

/** The result of a request. */
interface Answer {
  readonly outcome: string
  readonly code?: string
}

const answerTo = (tx: Transaction, bucket: string, request: Request): Answer => {
  if (bucket === "inst_start") {
    const { beats, flow = "", input, inst, steps } = request
    const answer = tx.flow.request({ flow, input, inst, steps, beats })
    return "inst" in answer ? { outcome: answer.inst } : { outcome: "refused", code: answer.refused }
  }
  const { action = "" } = request
  const act = Object.hasOwn(actions, action) ? actions[action] : undefined
  return { outcome: act === undefined ? "unknown action" : act(tx, request) ? "ok" : "refused" }
}

export default Enzyme.make({
  name: "inst_ing",
  query: "/CEP:sig_cell/CEP:op_add",
  bind: ["/data/flow/inbox/inst_start", "/data/flow/inbox/inst_ctrl"],
  after: ["mr_route"],
  writes: ["/data/flow/inbox/*/*"],
  run: (tx, { target = "" }) => {
    const request = tx.get(target) as unknown as (Request & { readonly outcome?: string }) | undefined
    // A processed request is not processed again by a repeated signal.
    if (request?.outcome !== "pending") return request?.outcome
    const [, , , , bucket = ""] = target.split("/")
    const answer = answerTo(tx, bucket, request)
    for (const [field, value] of Object.entries(answer)) tx.set(`${target}#/${field}`, value)
    return answer.outcome
  }
})
