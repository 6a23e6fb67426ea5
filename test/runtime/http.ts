/**
 * A Worker that executes jobs of the channels `http` and `webhook-out`.
 *
 * @module
 */
import type { Channel, Value } from "systole"
import http from "../../plugins/http.ts"
import webhookOut from "../../plugins/webhook-out.ts"

const providers = { ...http.provides.channels, ...webhookOut.provides.channels }

/** A job, as a request of this worker asks for it. */
interface Asked {
  readonly provider: string
  readonly options: Readonly<Record<string, unknown>>
  readonly opcode: string
  readonly payload: Value
}

const bytesOf = async (source: Uint8Array | AsyncIterable<Uint8Array>): Promise<Uint8Array> => {
  const parts: Array<number> = []
  for await (const part of source instanceof Uint8Array ? [source] : source) parts.push(...part)
  return Uint8Array.from(parts)
}

export default {
  /** The result of a job and the content that it kept as text, or its failure. */
  fetch: async (request: Request): Promise<Response> => {
    const { opcode, options, payload, provider } = await request.json() as Asked
    const kept: Array<string> = []
    const job: Channel.Job = {
      space: "shop",
      rid: "R1",
      key: "key-1",
      issued: 0,
      attempt: 1,
      opcode,
      payload,
      signal: new AbortController().signal,
      keep: async (source) => {
        const bytes = await bytesOf(source)
        return { address: `/cas/${kept.push(new TextDecoder().decode(bytes))}`, bytes: bytes.length }
      },
      content: async () => undefined
    }
    const channel = providers[provider]?.({ id: provider, root: "/", folder: "/", host: "workers", options })
    try {
      return Response.json({ ...await channel?.execute(job), kept, caps: channel?.caps })
    } catch (error) {
      return Response.json({ code: (error as Channel.ChannelError).code, message: (error as Error).message })
    }
  }
}
