/**
 * `npm run bench -- NAME [--json] [--host node|deno|bun]`: runs the benchmarks of
 * `test/bench/NAME.bench.ts`. `npm run bench -- watch COMMIT` compares this tree with another one.
 *
 * @module
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import process from "node:process"
import { pathToFileURL } from "node:url"
import { parseArgs } from "node:util"
import type { Bench, Figure } from "../bench/Bench.ts"
import { measure, rows, table, tables } from "../bench/Bench.ts"
import * as Children from "./Children.ts"
import type { Host } from "./Host.ts"
import { command, current, environment, root } from "./Host.ts"
import { watch } from "./watch.ts"

const { positionals: [name = "", commit = ""], values } = parseArgs({
  allowPositionals: true,
  options: { json: { type: "boolean", default: false }, host: { type: "string", default: current() } }
})
const folder = join(root, "test", "bench")
const names = readdirSync(folder).filter((file) => file.endsWith(".bench.ts")).map((file) => file.slice(0, -".bench.ts".length))
const hosts: ReadonlyArray<string> = ["node", "deno", "bun"] satisfies ReadonlyArray<Host>

const refuse = (message: string): never => {
  console.error(message)
  process.exit(2)
}

if (name === "watch") {
  const compared = await watch(commit) ?? refuse(`There is no commit "${commit}" to compare with; name one, such as HEAD~1`)
  console.log(compared)
  process.exit()
}
if (!names.includes(name)) refuse(`There is no bench "${name}"; there are ${[...names, "watch"].join(", ")}`)
if (!hosts.includes(values.host)) refuse(`There is no host "${values.host}"; there are ${hosts.join(", ")}`)

if (values.host !== current()) {
  const [file, ...args] = command(values.host as Host, import.meta.filename)
  const child = spawn(file, [...args, name, ...values.json ? ["--json"] : []], { cwd: root, env: environment(), stdio: "inherit" })
  Children.add(child)
  const [status] = await once(child, "exit") as [number | null]
  process.exit(status ?? 1)
}

const { default: bench } = await import(pathToFileURL(join(folder, `${name}.bench.ts`)).href) as { readonly default: Bench }
const measured: Array<readonly [title: string, figures: ReadonlyArray<Figure>]> = []
try {
  for (const [title, cases] of tables(bench.cases)) {
    const figures: Array<Figure> = []
    for (const kase of cases) {
      process.stderr.write(`${name}: ${kase.name}\n`)
      figures.push(...await measure(kase))
    }
    measured.push([title, figures])
  }
} finally {
  // Servers that were left would keep the process.
  await bench.close?.()
}
if (values.json) console.log(JSON.stringify(rows(name, values.host, measured.flatMap(([, figures]) => figures))))
else console.log(
  `${measured.map(([title, figures]) => `${title}\n${table(figures)}`.trimStart()).join("\n\n")}\n${bench.note ?? ""}`.trimEnd()
)
