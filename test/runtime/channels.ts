/**
 * A Worker that executes the jobs of a request on the channels `kv` and `timer`.
 *
 * @module
 */
import type { Channel, Plugin, Value } from "systole"
import kv from "../../plugins/kv.ts"
import timer from "../../plugins/timer.ts"

/** A job as the test sends it. */
interface Asked {
  readonly channel: "kv" | "timer"
  readonly opcode: string
  readonly payload: Value
}

const jobOf = ({ opcode, payload }: Asked): Channel.Job => ({
  space: "shop",
  rid: "R1",
  key: "key-1",
  issued: 0,
  attempt: 1,
  opcode,
  payload,
  signal: new AbortController().signal,
  keep: async (source) => ({ address: "/cas/kept", bytes: source instanceof Uint8Array ? source.length : 0 }),
  content: async () => new Uint8Array(70_000)
})

export default {
  async fetch(request: Request, env: { readonly CACHE: unknown }): Promise<Response> {
    const settings = (options: Plugin.ChannelSettings["options"]): Plugin.ChannelSettings =>
      ({ id: "cache", root: "/", folder: "/", host: "workers", options })
    const channels = {
      kv: kv.provides.channels?.["kv"]?.(settings({ namespace: env.CACHE })),
      timer: timer.provides.channels?.["timer"]?.(settings({}))
    }
    const answers: Array<unknown> = []
    for (const asked of await request.json() as ReadonlyArray<Asked>) {
      answers.push((await channels[asked.channel]?.execute(jobOf(asked)))?.value)
    }
    return Response.json(answers)
  }
}
