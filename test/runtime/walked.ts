/**
 * A Worker of the walk of all routes: with readers, public reads, tokens, and the JSON Web Tokens of an issuer, which name their scope.
 *
 * @module
 */
import { Enzyme } from "systole"
import { make } from "../../src/main/workers/index.ts"
import { config, ofJwts } from "../access/Scopes.ts"
import { counted } from "./counted.ts"
import { accepting } from "./IssuerKey.ts"

const count = Enzyme.make({ name: "count", query: "/signals/count", run: (tx) => tx.increment("/data/count") })

const worker = counted(make({
  manifest: { "enzymes/count.ts": { module: count, hash: "1" } },
  config: (env) => ({
    ...config,
    access: {
      ...config.access,
      rates: { address: { requests: 100_000, seconds: 60 } },
      jwt: accepting(env, ({ sub }) => ofJwts[Number(sub)])
    }
  })
}))

export const { Directory, Space } = worker
export default worker.handler
