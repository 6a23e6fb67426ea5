/**
 * A document for React: jsdom. Its globals are those of this process between `open` and `close`.
 *
 * @module
 */
import type { ReactNode } from "react"
import type { Root } from "react-dom/client"

/** The used part of jsdom. Its declarations are a package of their own. */
interface Jsdom {
  readonly JSDOM: new(html: string) => { readonly window: { readonly document: Document; readonly close: () => void } }
}

const JSDOM: string = "jsdom"

const names = ["window", "document", "IS_REACT_ACT_ENVIRONMENT"] as const

/** An open document. React is imported with it, because it looks for a document when it is loaded. */
export const open = async () => {
  const { JSDOM: Dom } = await import(JSDOM) as Jsdom
  const before = names.map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const)
  const { window } = new Dom("<!doctype html><div id=root></div>")
  for (const [name, value] of Object.entries({ window, document: window.document, IS_REACT_ACT_ENVIRONMENT: true })) {
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true })
  }
  const { act } = await import("react")
  const { createRoot, hydrateRoot } = await import("react-dom/client")
  const element = (): HTMLElement => window.document.getElementById("root") as HTMLElement
  const roots = new Set<Root>()
  const root = async (make: () => Root): Promise<Root> => {
    const made = await act(async () => make())
    roots.add(made)
    return made
  }
  return {
    act,
    text: () => element().textContent,
    click: () => act(async () => element().querySelector("button")?.click()),
    mount: async (node: ReactNode): Promise<Root> => {
      const made = await root(() => createRoot(element()))
      await act(async () => made.render(node))
      return made
    },
    /** Takes over HTML of a server. Returns the errors of that. */
    hydrate: async (html: string, node: ReactNode) => {
      element().innerHTML = html
      const errors: Array<unknown> = []
      await root(() => hydrateRoot(element(), node, { onRecoverableError: (error) => errors.push(error) }))
      return errors
    },
    render: (root: Root, node: ReactNode) => act(async () => root.render(node)),
    unmount: async (): Promise<void> => {
      for (const root of roots) await act(async () => root.unmount())
      roots.clear()
      element().innerHTML = ""
    },
    close: (): void => {
      window.close()
      for (const [name, descriptor] of before) {
        if (descriptor === undefined) Reflect.deleteProperty(globalThis, name)
        else Object.defineProperty(globalThis, name, descriptor)
      }
    }
  }
}
