/**
 * A real browser: the Chromium of this machine, without a window.
 *
 * @module
 */
import { existsSync } from "node:fs"
import process from "node:process"

/** A message of a console. */
interface Message {
  readonly type: () => string
  readonly text: () => string
}

/** Elements of a page. */
interface Locator {
  readonly textContent: () => Promise<string | null>
  readonly allTextContents: () => Promise<ReadonlyArray<string>>
  readonly click: () => Promise<void>
}

/** The used part of a page. */
export interface Page {
  readonly goto: (url: string) => Promise<unknown>
  readonly reload: () => Promise<unknown>
  readonly locator: (selector: string) => Locator
  readonly getByRole: (role: string, options: { readonly name: string }) => Locator
  readonly evaluate: <A>(run: () => Promise<A>) => Promise<A>
  readonly on: ((event: "console", hear: (message: Message) => void) => unknown) &
    ((event: "pageerror", hear: (error: Error) => void) => unknown)
}

interface Context {
  readonly newPage: () => Promise<Page>
  readonly on: (event: "request", hear: (request: { readonly url: () => string }) => void) => unknown
  readonly setDefaultTimeout: (millis: number) => void
}

interface Browser {
  readonly newContext: (options: { readonly ignoreHTTPSErrors: boolean }) => Promise<Context>
  readonly close: () => Promise<void>
}

/** The used part of the driver. The declarations of the package have 50,000 lines, which the compiler would read each time. */
interface Driver {
  readonly chromium: { readonly launch: (options: object) => Promise<Browser> }
}

/** The name of the package of the driver. */
const DRIVER: string = "playwright-core"

/** The paths of the browser in the packages of Debian, Fedora, Alpine and Google. */
const USUAL = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome", "/usr/bin/google-chrome-stable"]

/** The browser of the variable `SYSTOLE_CHROMIUM`, or of the packages; `undefined` without one. */
export const path: string | undefined = process.env["SYSTOLE_CHROMIUM"] || USUAL.find(existsSync)

/** Without a sandbox for root, which Chromium refuses, without services of its own, and without cookies of other sites. */
const FLAGS = [
  "--disable-gpu", "--disable-quic", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--test-third-party-cookie-phaseout"
]

/** No name of another machine is resolved. */
const CLOSED = ["MAP * ~NOTFOUND", "EXCLUDE 127.0.0.1"]

/** An open page, and what it did. */
export interface Opened {
  readonly page: Page
  /** Opens another page of the same profile. */
  readonly tab: () => Promise<Page>
  /** The errors and warnings of its console, and its exceptions. */
  readonly complaints: Array<string>
  /** The origins of its requests. */
  readonly origins: ReadonlySet<string>
}

/** The longest start, in milliseconds. */
const START_MILLIS = 120_000

const launch = async (executablePath: string, rules: ReadonlyArray<string> = []): Promise<Browser> => {
  const { chromium } = await import(DRIVER) as Driver
  const args = [...FLAGS, `--host-resolver-rules=${[...rules, ...CLOSED].join(", ")}`]
  return chromium.launch({ executablePath, args, chromiumSandbox: process.getuid?.() !== 0, timeout: START_MILLIS })
}

/**
 * The reason why no browser can be used; `undefined` if one starts. A machine may have the program without what it needs to
 * start, such as namespaces for its sandbox.
 */
export const hindrance = async (): Promise<string | undefined> => {
  if (path === undefined) return "install the package chromium, or set SYSTOLE_CHROMIUM to the path of one"
  try {
    await (await launch(path)).close()
    return undefined
  } catch (failure) {
    return `${path} does not start: ${String(failure).split("\n", 1)[0]}`
  }
}

/** Uses a page of a browser with an empty profile. `rules` lead names to this machine, where no authority knows their certificates. */
export const open = async (use: (opened: Opened) => Promise<void>, rules: ReadonlyArray<string> = []): Promise<void> => {
  const browser = await launch(path!, rules)
  try {
    const context = await browser.newContext({ ignoreHTTPSErrors: true })
    context.setDefaultTimeout(0)
    const complaints: Array<string> = []
    const origins = new Set<string>()
    context.on("request", (request) => {
      const { origin, protocol } = new URL(request.url())
      // The icon of a page may be part of it.
      if (protocol !== "data:") origins.add(origin)
    })
    const tab = async (): Promise<Page> => {
      const page = await context.newPage()
      page.on("console", (message) => {
        if (["error", "warning"].includes(message.type())) complaints.push(message.text())
      })
      page.on("pageerror", (error) => complaints.push(String(error)))
      return page
    }
    await use({ page: await tab(), tab, complaints, origins })
  } finally {
    await browser.close()
  }
}
