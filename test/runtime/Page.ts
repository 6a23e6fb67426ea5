/**
 * A page of a server, run without a browser: its own script over real HTTP, with the parts of a browser that it uses.
 *
 * @module
 */
import { createHash } from "node:crypto"
import { createContext, runInContext } from "node:vm"

/** An element of a page. */
export class Element {
  textContent: string | number = ""
  onclick: (() => unknown) | undefined
  children: ReadonlyArray<Element | string | number> = []

  append(...children: ReadonlyArray<Element | string | number>): void {
    this.children = [...this.children, ...children]
  }

  replaceChildren(...children: ReadonlyArray<Element | string | number>): void {
    this.children = children
  }

  /** The text of the element and of the elements in it. */
  get text(): string {
    const parts = [this.textContent, ...this.children].map((part) => part instanceof Element ? part.text : String(part))
    return parts.filter((part) => part !== "").join(" ")
  }
}

/** An open page. */
export interface Page {
  /** The element with an id. */
  readonly at: (id: string) => Element
  /** Ends its streams. */
  readonly close: () => void
}

/** An event source with the events of one stream. It does not connect again. */
class EventStream {
  onopen: (() => void) | undefined
  onerror: (() => void) | undefined
  private readonly hears = new Map<string, (event: { readonly data: string }) => void>()

  addEventListener(event: string, hear: (event: { readonly data: string }) => void): void {
    this.hears.set(event, hear)
  }

  async read(url: string, signal: AbortSignal): Promise<void> {
    const { body, status } = await fetch(url, { headers: { accept: "text/event-stream" }, signal })
    if (status !== 200) throw new Error(`the stream was answered with ${status}`)
    this.onopen?.()
    let rest = ""
    for await (const part of (body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
      const events = (rest + part).split("\n\n")
      rest = events.pop() ?? ""
      for (const event of events) this.tell(event)
    }
  }

  private tell(event: string): void {
    const field = (name: string) => event.split("\n").find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2)
    const data = field("data")
    if (data !== undefined) this.hears.get(field("event") ?? "message")?.({ data })
  }
}

/** Opens a page. Its script runs if the policy of the answer allows it, as in a browser. */
export const open = async (url: string): Promise<Page> => {
  const answer = await fetch(url)
  const [, script = ""] = /<script type="module">([^]*)<\/script>/.exec(await answer.text()) ?? []
  const allowed = `'sha256-${createHash("sha256").update(script).digest("base64")}'`
  if (answer.headers.get("content-security-policy")?.includes(allowed) !== true) throw new Error("the policy forbids the script")
  const closing = new AbortController()
  const elements = new Map<string, Element>()
  const at = (id: string): Element => {
    const found = elements.get(id) ?? new Element()
    elements.set(id, found)
    return found
  }
  class EventSource extends EventStream {
    constructor(path: string) {
      super()
      this.read(new URL(path, url).href, closing.signal).catch(() => this.onerror?.())
    }
  }
  const document = { getElementById: at, createElement: () => new Element() }
  const here = (path: string, init: RequestInit) => fetch(new URL(path, url), init)
  runInContext(script, createContext({ document, EventSource, fetch: here }))
  return { at, close: () => closing.abort() }
}
