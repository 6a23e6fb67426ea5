/**
 * Templates for a new project: an application over HTTP, a Worker, and an agent.
 *
 * Each has typed cells, an enzyme, a test, and the scripts `check` and `test`.
 *
 * @module
 */
import type { Files } from "./Template.ts"

/** The files of a project that no repository keeps: of the agent, its backups, its lock and its temporary files. */
const IGNORED = [
  "node_modules/", ".data/", ".systole/", "/history/", "/heartbeat*.lock", "/.heartbeat*",
  "dist/*", "!dist/workers/", "dist/workers/*", "!dist/workers/wrangler.jsonc", ""
].join("\n")

/** A template, as far as it differs from the others. */
interface Template {
  /** One sentence on the project. */
  readonly about: string
  readonly files: Files
  readonly scripts: Readonly<Record<string, string>>
  /** The steps after the installation until a beat shows. */
  readonly steps: readonly [Step, Step]
  /** More lines of the README. */
  readonly more: string
}

/** A command, or the address of a page, and its effect. */
interface Step {
  readonly command: string
  readonly does: string
}

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

const tsconfig = json({
  compilerOptions: {
    target: "es2024",
    module: "nodenext",
    types: ["node"],
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true
  },
  exclude: ["dist"]
})

const config = (fields: ReadonlyArray<string>, imports: ReadonlyArray<string> = []): string =>
  `${["import { defineConfig } from \"systole\"", ...imports].join("\n")}

export default defineConfig({
${fields.map((field) => `  ${field}`).join(",\n")}
})
`

/** The cells, the enzyme and the test that every project begins with. */
const greeting: Files = {
  "cells.ts": `import { Cell, Schema, Signal } from "systole/cells"

/** How often each person was greeted. */
export const Greetings = Cell.family("/data/greetings/:who", Schema.Struct({ times: Schema.Natural }))

/** Greets a person. It has no payload. */
export const Greet = Signal.make("/signals/greet/:who", Schema.Undefined)
`,
  "enzymes/greet.ts": `import { Cell, Enzyme } from "systole"
import { Greet, Greetings } from "../cells.ts"

export default Enzyme.make({
  name: "greet",
  query: Greet,
  writes: [Greetings],
  run: (tx, { params: { who } }) => {
    const greeted = Greetings.at({ who })
    tx.increment(Cell.into(greeted, "times"))
    return tx.get(greeted)
  }
})
`,
  "test/greet.test.ts": `import { test } from "node:test"
import { expectCell, expectReceipt, TestSpace } from "systole/testing"
import { Greetings } from "../cells.ts"
import greet from "../enzymes/greet.ts"

test("greet counts the greetings of each person", () =>
  TestSpace.use([greet], async (space) => {
    for (const times of [1, 2]) {
      expectReceipt(await space.handled({ signal: "/signals/greet/ann" }), { value: { times } })
    }
    await expectCell(space, Greetings.at({ who: "ann" }), { times: 2 })
    await expectCell(space, Greetings.at({ who: "bob" }), undefined)
  }))
`
}

const html = `/** The page at /, which page.ts brings to life. */
export const html = \`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Greetings</title>
<link rel="icon" href="data:,">
<form id="form">
  <input id="who" aria-label="Name" value="ann" pattern="[a-z]+" required>
  <button>Greet</button>
</form>
<output id="said"></output>
</html>
\`
`

const page = `/** Runs in the browser: it greets a person, and shows the answer of the beat. */
import { connect } from "systole/client"
import { Greet, Greetings } from "./cells.ts"

const home = connect().space("home")

const greet = async (who: string): Promise<string> => {
  const { receipt } = await home.signal(Greet, { params: { who }, wait: "10s" })
  const greeted = await home.get(Greetings.at({ who }))
  return \`beat \${receipt?.handlings[0]?.beat}: \${who} is greeted, time \${greeted?.times}\`
}

const say = (text: string): void => document.querySelector("#said")?.replaceChildren(text)

document.querySelector("#form")?.addEventListener("submit", (event) => {
  event.preventDefault()
  const who = document.querySelector<HTMLInputElement>("#who")?.value ?? ""
  greet(who).then(say, ({ message }: Error) => say(\`not greeted: \${message}\`))
})
`

const heartbeat = `---
version: 1
status: idle
---

# Heartbeat

## Pending Actions

### [HIGH] Greet Ann
- **id**: greet
- **type**: signal
- **signal**: /signals/greet/ann
- **schedule**: every:1h
- **status**: pending

## Completed Today

## Notes
`

const dev: Step = { command: "npx systole dev", does: "serves the project, and swaps a module when you save it" }

const templates = {
  http: {
    about: "A server with an enzyme, typed cells and a page.",
    files: {
      ...greeting,
      "html.ts": html,
      "page.ts": page,
      "systole.config.ts": config([
        "persistence: \"sqlite\"",
        "spaces: { create: \"on-demand\" }",
        "pages: { \"/\": { html, module: \"page.ts\" } }"
      ], ["import { html } from \"./html.ts\""])
    },
    scripts: { dev: "systole dev", start: "systole start" },
    steps: [dev, { command: "http://127.0.0.1:4200/", does: "greets Ann, and shows the beat that did: open it in a browser" }],
    more: `The same from a second terminal:

    npx systole signal home --signal /signals/greet/ann --wait 10s
    npx systole cell get home /data/greetings/ann
`
  },
  workers: {
    about: "Enzymes for Cloudflare Workers: each space is a Durable Object.",
    files: { ...greeting, "systole.config.ts": config(["spaces: { create: \"on-demand\" }"]) },
    scripts: {
      dev: "systole dev",
      build: "systole build --target workers",
      deploy: "systole build --target workers && npx wrangler deploy --cwd dist/workers"
    },
    steps: [dev, {
      command: "npx systole signal home --signal /signals/greet/ann --wait 10s",
      does: "greets Ann, and prints the beat that did: in a second terminal, in this folder"
    }],
    more: `Deploy it, with a token of at least 16 characters:

    npm run build
    npx wrangler secret put SYSTOLE_TOKEN --cwd dist/workers
    npm run deploy
`
  },
  agent: {
    about: "An agent that does what heartbeat.md says.",
    files: {
      ...greeting,
      "heartbeat.md": heartbeat,
      "systole.config.ts": config(["persistence: \"sqlite\"", "agent: { timezone: \"UTC\" }"])
    },
    scripts: { dev: "systole dev", agent: "systole agent run" },
    steps: [
      { command: "npx systole agent wake", does: "runs the actions of heartbeat.md that are due" },
      { command: "npx systole cell get agent /data/greetings/ann", does: "prints the cell that the action changed" }
    ],
    more: `The agent stays, and wakes when an action is due or the file changes:

    npm run agent
`
  }
} satisfies Readonly<Record<string, Template>>

/** The name of a template. */
export type Name = keyof typeof templates

/** The names of the templates; the first is the default. */
export const names = Object.keys(templates) as [Name, ...Array<Name>]

/** The sentences of the templates, by name. */
export const abouts = (): ReadonlyArray<string> => names.map((name) => `${name}: ${templates[name].about}`)

/** A new project. */
export interface Project {
  readonly name: string
  /** The dependency specifier of this package. */
  readonly installation: string
  readonly template: Name
}

/**
 * The three steps from the folder above a new project to its first beat.
 */
export const steps = ({ name, template }: Pick<Project, "name" | "template">): ReadonlyArray<Step> => [
  { command: `cd ${name} && npm install`, does: "installs its packages" },
  ...templates[template].steps
]

const stepLines = (steps: ReadonlyArray<Step>): ReadonlyArray<string> =>
  steps.map(({ command, does }, i) => `${i + 1}. ${command}\n   ${does}`)

/**
 * The steps as text.
 */
export const guide = (project: Pick<Project, "name" | "template">): string =>
  `Three steps to the first beat:\n${stepLines(steps(project)).join("\n")}`

const readme = ({ name, template }: Project): string => {
  const { about, more, steps } = templates[template]
  return `# ${name}

${about}

    npm install
${steps.map(({ command, does }) => `    ${command.padEnd(24)} # ${does}`).join("\n")}

${more}
| script | does |
|---|---|
| \`npm run check\` | checks the types |
| \`npm test\` | runs the tests in \`test/\` |
`
}

/**
 * The files of a project.
 */
export const make = (project: Project): Files => {
  const { files, scripts } = templates[project.template]
  const all: Files = {
    "package.json": json({
      name: project.name,
      version: "0.1.0",
      private: true,
      type: "module",
      scripts: { ...scripts, check: "tsc", test: "node --test" },
      dependencies: { effect: "4.1.0", systole: project.installation },
      devDependencies: { "@types/node": "24", typescript: "7.0.2" },
      // It puts its program in place when it is installed.
      allowScripts: { esbuild: true }
    }),
    "tsconfig.json": tsconfig,
    ".gitignore": IGNORED,
    "README.md": readme(project),
    ...files
  }
  return Object.fromEntries(Object.entries(all).map(([file, text]) => [`${project.name}/${file}`, text]))
}
