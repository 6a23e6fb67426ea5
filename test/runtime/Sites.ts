/**
 * Sites with names of their own on this machine, each with and without TLS, for a browser that resolves these names.
 *
 * @module
 */
import { createServer, request as send, type RequestListener, type Server } from "node:http"
import { createServer as createSecureServer } from "node:https"
import type { AddressInfo } from "node:net"
import { serverCertificate, serverKey } from "../plugins/http/Certificates.ts"

const listening = (server: Server): Promise<number> =>
  new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port)))

const closed = (server: Server): Promise<void> => {
  server.closeAllConnections()
  return new Promise((resolve) => server.close(() => resolve()))
}

/** Runs with sites. `rules` lead their names to them, as the flag `--host-resolver-rules` of Chromium has it. */
export const serving = async (
  sites: Readonly<Record<string, RequestListener>>,
  use: (rules: ReadonlyArray<string>) => Promise<void>
): Promise<void> => {
  const servers = Object.entries(sites).flatMap(([name, listener]) => [
    { name: `${name}:443`, server: createSecureServer({ key: serverKey, cert: serverCertificate }, listener) },
    { name: `${name}:80`, server: createServer(listener) }
  ])
  try {
    await use(await Promise.all(servers.map(async ({ name, server }) => `MAP ${name} 127.0.0.1:${await listening(server)}`)))
  } finally {
    await Promise.all(servers.map(({ server }) => closed(server)))
  }
}

/** A proxy that hands requests on to an origin, with the host that they name. */
export const proxy = (origin: () => string): RequestListener => (request, response) => {
  const { headers, method, url = "/" } = request
  const passed = send(new URL(url, origin()), { method: method!, headers }, (answer) => {
    response.writeHead(answer.statusCode!, answer.headers)
    answer.pipe(response)
    answer.on("error", () => response.destroy())
  })
  passed.on("error", () => response.destroy())
  response.on("close", () => passed.destroy())
  request.pipe(passed)
}

/** A site that sets a cookie for each other site, and answers with the cookie that it gets. */
export const tracker: RequestListener = ({ headers: { cookie = "none", origin } }, response) => {
  response.writeHead(200, {
    "content-type": "text/html",
    "set-cookie": "seen=1; SameSite=None; Secure; Path=/",
    ...origin === undefined ? {} : { "access-control-allow-origin": origin, "access-control-allow-credentials": "true" }
  })
  response.end(cookie)
}
