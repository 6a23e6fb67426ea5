/**
 * The modules and the settings of the worlds for the promise of noninterference, for a server and for a Worker.
 *
 * @module
 */
import { Computation, Enzyme, Link } from "systole"

export const [ROOT, WEB] = ["the-operators-own-token", "the-token-of-the-page"] as const
export const SHOP = "/v1/spaces/shop"
export const config = {
  token: ROOT,
  spaces: { create: "on-demand" as const },
  access: { public: [`GET ${SHOP}/cells/data/shop/**`] },
  labels: {
    cells: { "/data/shop/pay": ["salary"], "/data/shop/pay/**": ["salary"] },
    readers: { web: { token: WEB, clearance: [] } }
  }
}

/** The kinds of secrets: above a clearance, beyond prefixes, and in another scope. Each has cells, and signals that go there. */
export const secrets = {
  above: { folder: "/data/shop/pay", query: "", label: ["salary"] },
  beyond: { folder: "/data/back", query: "", label: undefined },
  scoped: { folder: "/data/shop/carts", query: "?scope=user:7", label: undefined }
} as const

export type Kind = keyof typeof secrets

export const kinds = Object.keys(secrets) as ReadonlyArray<Kind>

/** Names that worlds draw cells from, so that two of them have others, and other numbers of them. */
export const NAMES = ["0", "1", "2", "a", "b", "zz"]
export const cellOf = (kind: Kind, name: string): string => `${secrets[kind].folder}/${name}${secrets[kind].query}`

export const put = Enzyme.make({
  name: "put",
  query: "/signals/put",
  bind: ["/data"],
  target: "required",
  run: (tx, { payload, target }) => (tx.set(String(target), payload), payload)
})
/** Knows a secret, and returns it or fails by it. */
export const tell = Enzyme.make({
  name: "tell",
  query: "/signals/tell",
  bind: ["/data"],
  target: "required",
  run: (tx) => {
    const value = Number(tx.get("/data/shop/pay/0") ?? 0)
    if (value % 2 === 0) throw new Error(`it is ${value}`)
    return value
  }
})
export const nodes = [
  Computation.make({ name: "open", output: "/data/shop/open", run: (tx) => Number(tx.get("/data/shop/0")) + 1 }),
  Computation.make({
    name: "closed",
    output: "/data/shop/pay/sum",
    run: (tx) => Number(tx.get("/data/shop/0")) + Number(tx.get("/data/shop/pay/0") ?? 0)
  })
]

/** The verbs of all credentials. */
export const verbs = ["read", "signal"] as const

/** The scopes of JSON Web Tokens, by the names of their tokens. */
export const scopesOfJwts = { "jwt-user": { verbs, scope: "user:42", clearance: [] }, "jwt-all": { verbs, scope: "user:42" } }

/** The cells of each world. */
export const base = async (set: (address: string, value: unknown) => Promise<unknown>): Promise<void> => {
  for (const name of ["0", "1", "2"]) await set(`/data/shop/${name}`, Number(name))
  await set("/data/shop/deep", { part: ["of", "a document"] })
  await set("/data/shop/carts/0?scope=user:42", ["tea"])
  for (const kind of kinds) await set(`/data/shop/${kind}`, Link.make(cellOf(kind, "0")))
}
