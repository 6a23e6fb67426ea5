import { afterEach, assert, describe, it } from "@effect/vitest"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { inspect } from "node:util"
import { Redacted } from "systole"
import * as HttpChannel from "../../../plugins/http/HttpChannel.ts"
import * as SocketTransport from "../../../plugins/http/SocketTransport.ts"
import { current } from "../../scripts/Host.ts"
import * as TestJob from "../../support/TestJob.ts"
import { authority, clientCertificate, clientKey, serverCertificate, serverKey } from "./Certificates.ts"
import { LocalServers } from "./LocalServer.ts"

const servers = new LocalServers()
const folders: Array<string> = []

afterEach(async () => {
  delete process.env["SYSTOLE_TEST_CA"]
  await servers.close()
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true })))
})

const settingsOf = (options: Readonly<Record<string, unknown>>, root = import.meta.dirname) =>
  ({ id: "http", root, folder: root, host: current(), options: { allow: ["127.0.0.1"], ...options } })

/** A channel that resolves each name to the local server. */
const named = (tls: Parameters<typeof SocketTransport.make>[0]) =>
  HttpChannel.define(settingsOf({}), { transport: { ...SocketTransport.make(tls), resolve: async () => ["127.0.0.1"] } })

const outcome = async (url: string, channel = HttpChannel.define(settingsOf({}))) => {
  const job = TestJob.make("fetch", { url })
  return TestJob.run(channel, job).then(
    ({ value }) => (value as { readonly status: number }).status,
    ({ code }: { readonly code: string }) => code
  )
}

const server = { cert: serverCertificate, key: serverKey }

/** A server that takes clients with a certificate of the authority alone. */
const strict = { ...server, ca: authority, requestCert: true, rejectUnauthorized: true }

describe("TLS of a channel", () => {
  it("trusts the authority of a variable, for an address that is in the certificate", async () => {
    const { url } = await servers.https(server, (_, response) => response.end())
    assert.strictEqual(await outcome(url), "io/tls")
    process.env["SYSTOLE_TEST_CA"] = authority
    assert.strictEqual(await outcome(url, HttpChannel.define(settingsOf({ ca: { env: "SYSTOLE_TEST_CA" } }))), 200)
  })

  it("verifies the certificate for the name, not for the address that the name resolves to", async () => {
    const { port, seen } = await servers.https(server, (_, response) => response.end())
    assert.strictEqual(await outcome(`https://shop.test:${port}/`, named({ ca: authority })), 200)
    assert.strictEqual(seen[0]?.headers.host, `shop.test:${port}`)
    assert.strictEqual(await outcome(`https://other.test:${port}/`, named({ ca: authority })), "io/tls")
    assert.strictEqual(await outcome(`https://shop.test:${port}/`, named({})), "io/tls")
    assert.strictEqual(seen.length, 1)
  })

  it("shows its certificate to a server that asks for it, from files of the project", async () => {
    const { url } = await servers.https(strict, (_, response) => response.end())
    const root = await mkdtemp(join(tmpdir(), "systole-tls-"))
    folders.push(root)
    const texts = { "ca.pem": authority, "client.pem": clientCertificate, "client.key": clientKey }
    await Promise.all(Object.entries(texts).map(([name, text]) => writeFile(join(root, name), text)))
    const files = { ca: { file: "ca.pem" }, cert: { file: "client.pem" }, key: { file: join(root, "client.key") } }
    assert.strictEqual(await outcome(url, HttpChannel.define(settingsOf(files, root))), 200)
    assert.notStrictEqual(await outcome(url, HttpChannel.define(settingsOf({ ca: files.ca }, root))), 200)
  })

  it("shows its certificate to the named origin alone, not to the origin of a redirect", async () => {
    const other = await servers.https(strict, (_, response) => response.end())
    const { url } = await servers.https(strict, ({ url }, response) =>
      url === "/end" ? response.end() : response.writeHead(302, { location: url === "/within" ? "/end" : other.url }).end())
    const channel = named({ ca: authority, cert: clientCertificate, key: Redacted.make(clientKey) })
    assert.strictEqual(await outcome(`${url}/within`, channel), 200)
    assert.strictEqual(await outcome(other.url, channel), 200)
    assert.notStrictEqual(await outcome(`${url}/away`, channel), 200)
    assert.strictEqual(other.seen.length, 1)
  })

  it("shows no secret in the definition or in a message", async () => {
    process.env["SYSTOLE_TEST_CA"] = "very-secret"
    const secret = { env: "SYSTOLE_TEST_CA" }
    const channel = HttpChannel.define(settingsOf({ ca: secret, cert: secret, key: secret }))
    const { url } = await servers.https(server, (_, response) => response.end())
    const failure = await TestJob.failure(channel, TestJob.make("fetch", { url }))
    assert.include(failure.message, "Request R1")
    assert.notInclude(inspect([channel, failure, failure.message], { depth: 9 }), "very-secret")
  })

  it("is refused on Workers, where it cannot be set", () => {
    process.env["SYSTOLE_TEST_CA"] = authority
    assert.throws(() => HttpChannel.define({ ...settingsOf({ ca: { env: "SYSTOLE_TEST_CA" } }), host: "workers" }), "Workers")
  })
})
