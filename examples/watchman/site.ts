/**
 * A small site: it tells whether it is well, and keeps the alerts and greetings that it gets. Its port is 4280, or the first argument.
 *
 * @module
 */
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { pathToFileURL } from "node:url"

/** A running site. */
export interface Site {
  readonly port: number
  /** The bodies of the requests, each with its path. */
  readonly heard: ReadonlyArray<string>
  /** Whether it says that it is well. */
  isWell: boolean
  readonly close: () => Promise<void>
}

const listen = (server: Server, port: number): Promise<number> =>
  new Promise((resolve) => server.listen(port, "127.0.0.1", () => resolve((server.address() as AddressInfo).port)))

/** Starts the site; port 0 takes a free one. */
export const start = async (port: number): Promise<Site> => {
  const heard: Array<string> = []
  const server = createServer((request, response) => {
    let body = ""
    request.on("data", (chunk) => body += String(chunk))
    request.on("end", () => {
      if (request.method === "POST") heard.push(`${request.url} ${body}`)
      response.writeHead(request.url === "/health" && !site.isWell ? 503 : 200).end("ok")
    })
  })
  const close = (): Promise<void> => new Promise((resolve) => server.close(() => resolve()))
  const site = { port: await listen(server, port), heard, isWell: true, close }
  return site
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const { port } = await start(Number(process.argv[2] ?? 4280))
  console.log(`The site listens at http://127.0.0.1:${port}`)
}
