/**
 * The types of a configuration, as its author meets them. The compiler checks this file, and no test runs it.
 *
 * Each `@ts-expect-error` names the mistake of the line below it. A line that compiles is an error of its own.
 *
 * @module
 */
import { defineConfig, webhook } from "systole"

declare module "systole" {
  interface StoreOptions {
    readonly forgetful: { readonly after?: number }
  }
  interface ChannelOptions {
    readonly printer: { readonly tray: number }
  }
}

/** The plugins of the package and of the project, by name or with options. */
export const right = [
  defineConfig({}),
  defineConfig({ persistence: "sqlite" }),
  defineConfig({ persistence: { use: "memory" } }),
  defineConfig({ persistence: { use: "forgetful", options: { after: 3 } } }),
  defineConfig({ channels: { files: "file", cache: "kv", web: "http", waits: "timer" } }),
  defineConfig({
    channels: {
      web: {
        use: "http",
        options: { allow: ["127.0.0.1"], headers: [{ origin: "https://a.example", name: "authorization", value: { env: "A" } }] },
        budget: 10,
        clearance: ["salary"]
      },
      tools: { use: "shell", options: { allow: ["true", { program: "tar", args: "any" }] } },
      work: { use: "worker", options: { module: "work.ts" } },
      out: { use: "webhook-out", options: { secrets: [{ env: "SECRET" }] } },
      scales: {
        use: "socket",
        options: {
          connect: { host: "a.example", port: 1, protocol: "tls" }, messages: "lines", inbound: { space: "home", signal: "/signals/a" }
        }
      },
      local: { use: "pipe", options: { root: "pipes", connect: { path: "a" } } },
      paper: { use: "printer", options: { tray: 1 } }
    }
  }),
  defineConfig({ content: { use: "bucket", options: { binding: "FILES" } } }),
  defineConfig({
    content: {
      use: "bucket",
      options: { endpoint: "https://s3.example", accessKeyId: { env: "ID" }, secretAccessKey: { file: "secret" } }
    }
  }),
  defineConfig({ environments: { production: { channels: { web: { use: "http", options: { jobs: 8 } } } } } }),
  defineConfig({ ingress: { "/hooks/paid": webhook({ secret: "a-secret", scheme: "github", signal: "/signals/paid" }) } })
]

export const wrong = [
  // @ts-expect-error: no plugin has this name
  defineConfig({ persistence: "sqlit" }),
  // @ts-expect-error: the store sqlite has no options
  defineConfig({ persistence: { use: "sqlite", options: { file: "a" } } }),
  // @ts-expect-error: a store of the project has an option of another type
  defineConfig({ persistence: { use: "forgetful", options: { after: "3" } } }),
  // @ts-expect-error: a channel is no store
  defineConfig({ persistence: "http" }),
  // @ts-expect-error: no channel has this name
  defineConfig({ channels: { web: "htp" } }),
  // @ts-expect-error: a store is no channel
  defineConfig({ channels: { web: { use: "sqlite" } } }),
  // @ts-expect-error: the channel http has no such option
  defineConfig({ channels: { web: { use: "http", options: { allwo: ["127.0.0.1"] } } } }),
  // @ts-expect-error: an option of another channel
  defineConfig({ channels: { web: { use: "http", options: { root: "files" } } } }),
  // @ts-expect-error: a list is expected
  defineConfig({ channels: { web: { use: "http", options: { allow: "127.0.0.1" } } } }),
  // @ts-expect-error: a secret stands in no configuration, only its place
  defineConfig({ channels: { out: { use: "webhook-out", options: { secrets: ["whsec_secret"] } } } }),
  // @ts-expect-error: the channel worker needs a module, so its name alone is not enough
  defineConfig({ channels: { work: "worker" } }),
  // @ts-expect-error: the channel worker needs options
  defineConfig({ channels: { work: { use: "worker" } } }),
  // @ts-expect-error: a program is a text or { program }
  defineConfig({ channels: { tools: { use: "shell", options: { allow: [{ name: "tar" }] } } } }),
  // @ts-expect-error: a channel has no such setting
  defineConfig({ channels: { web: { use: "http", budgets: 10 } } }),
  // @ts-expect-error: the timer has no options
  defineConfig({ channels: { waits: { use: "timer", options: { ms: 1 } } } }),
  // @ts-expect-error: a channel of the project lacks its option
  defineConfig({ channels: { paper: { use: "printer", options: {} } } }),
  // @ts-expect-error: a bucket has a binding or an endpoint
  defineConfig({ content: { use: "bucket", options: { prefix: "a" } } }),
  // @ts-expect-error: the options of an environment have their types, too
  defineConfig({ environments: { production: { channels: { web: { use: "http", options: { job: 8 } } } } } }),
  // @ts-expect-error: an environment has a store of the plugins
  defineConfig({ environments: { production: { persistence: "postgres" } } }),
  // @ts-expect-error: a field that no configuration has
  defineConfig({ persistance: "sqlite" })
]
