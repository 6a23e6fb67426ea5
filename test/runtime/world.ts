/**
 * A Worker of the worlds for the promise of noninterference.
 *
 * @module
 */
import { make } from "../../src/main/workers/index.ts"
import { config, nodes, put, scopesOfJwts, tell } from "../access/WorldModules.ts"
import { accepting } from "./IssuerKey.ts"

const [open, closed] = nodes

export const { Directory, Space, handler } = make({
  manifest: {
    "enzymes/put.ts": { module: put, hash: "1" },
    "enzymes/tell.ts": { module: tell, hash: "2" },
    "enzymes/open.ts": { module: open, hash: "3" },
    "enzymes/closed.ts": { module: closed, hash: "4" }
  },
  config: (env) => ({
    ...config,
    access: { ...config.access, jwt: accepting(env, ({ sub }) => scopesOfJwts[sub as keyof typeof scopesOfJwts]) }
  })
})

export default handler
