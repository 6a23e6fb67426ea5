/**
 * A thousand runs of a hostile module, or fewer if the time is short.
 *
 * @module
 */
import * as Random from "../support/Random.ts"
import type { Attack } from "./Attack.ts"
import { kinds, slow } from "./Hostile.ts"
import { hold, type Target } from "./Targets.ts"

const RUNS = 1000

/** The number of concurrent signals. */
const AT_ONCE = 50

/** The statuses of an event that is over: handled, given up, without an enzyme. */
const over = [200, 422, 404]

const post = async ({ ask }: Target, kind: string, space: string): Promise<void> => {
  const answer = await ask(`/v1/spaces/${space}/signals`, {
    method: "POST",
    headers: { "content-type": "application/json", prefer: "wait=5" },
    body: JSON.stringify({ signal: `/signals/hostile/${kind}` })
  })
  if (answer.status === 429 || answer.status === 503 || answer.status === 202) return
  hold(over.includes(answer.status), `${kind} is answered ${answer.status} ${answer.text.slice(0, 200)}`)
}

export const runs: Attack = {
  name: "hostile runs",
  holds: "the server is up, each receipt is final, and no printed line controls a terminal",
  run: async (targets, until) => {
    const { guarded, draw } = targets
    const quick = kinds.filter((kind) => !slow.has(kind))
    const all = [...kinds, ...Array.from({ length: RUNS - kinds.length }, () => Random.pick(draw, quick))]
    let tried = 0
    while (tried < all.length && (tried < kinds.length || !until())) {
      const some = all.slice(tried, tried + AT_ONCE)
      await Promise.all(some.map((kind, n) => post(guarded, kind, `hostile${n % 4}`)))
      tried += some.length
    }
    const open = await guarded.ask("/v1/spaces/hostile0/cells/data/open")
    hold(open.status === 404, `an open cell has what a secret one holds: ${open.text.slice(0, 100)}`)
    const escaped = /(?!\n)\p{Cc}/u.exec(guarded.printed())
    hold(escaped === null, `standard error has U+${escaped?.[0].charCodeAt(0).toString(16)}`)
    hold(guarded.printed().includes("\\u001b"), "standard error has no report of the runs")
    return tried
  }
}
