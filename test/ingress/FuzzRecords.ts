/**
 * A record of each kind, for random requests that name them.
 *
 * @module
 */
import type { Known } from "./EndpointFuzz.ts"
import type { TestIngress } from "./TestIngress.ts"

const space = "/v1/spaces/shop"

/** Makes a record of each kind. `n` tells the records of several calls apart. */
export const make = async ({ ask, post }: Pick<TestIngress, "ask" | "post">, n: number): Promise<Known> => {
  const field = async (path: string, body: unknown, name: string): Promise<string> =>
    String(((await post(`${space}/${path}`, body, { prefer: "wait=10" })).body as Readonly<Record<string, unknown>>)[name])
  const text = async (path: string, name: string): Promise<string> => {
    const rows = Object.values((await ask(`${space}/${path}`)).body as object).find(Array.isArray) as ReadonlyArray<object> | undefined
    return String((rows?.at(-1) as Readonly<Record<string, unknown>> | undefined)?.[name])
  }
  await post(`${space}/signals`, { signal: "/signals/broken", id: `letter-${n}` }, { prefer: "wait=10" })
  await post(`${space}/signals`, { signal: "/signals/placed" })
  await post(`${space}/signals`, { signal: "/signals/ask", payload: { channel: "bank", opcode: "charge" } }, { prefer: "wait=10" })
  const { body } = await ask(`${space}/blobs`, { method: "PUT", body: `content ${n}` })
  const operation = await field("ops", { verb: "op/render", target: "/data/scene", mode: "opm:states" }, "oid")
  return {
    space: ["shop"],
    id: [`letter-${n}`],
    enzyme: ["broken"],
    hash: [String((body as { readonly hash?: string }).hash)],
    oid: [operation, await text("runs", "oid")],
    key: [await field("rv", { key: `meeting-${n}`, due_off: 500 }, "key")],
    inst: [await field("flows", { flow: "pack", inst: `pack-${n}` }, "inst")],
    rid: [await text("io", "rid")],
    flow: ["pack"],
    beat: [1, 2],
    address: ["/data/count", "/data/total"],
    target: ["/data/scene"]
  }
}
