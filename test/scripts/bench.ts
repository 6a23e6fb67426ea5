/**
 * `npm run bench -- NAME [--json] [--size MIB] [--host node|deno|bun]`: runs the benchmarks of
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
import type { Bench, Figure } from "../bench/Bench.ts"
import { measure, rows, table, tables } from "../bench/Bench.ts"
import * as Children from "./Children.ts"
import { command, current, environment, hosts, root } from "./Host.ts"
import * as Options from "./Options.ts"
import { watch } from "./watch.ts"

const folder = join(root, "test", "bench")
const names = readdirSync(folder).filter((file) => file.endsWith(".bench.ts")).map((file) => file.slice(0, -".bench.ts".length))
const { others: [name = "", commit = ""], values: { host = current(), json, size } } = Options.read({
  script: "bench",
  about: `Runs the benchmarks of one name: ${names.join(", ")}.\nwatch COMMIT compares this tree with another one.`,
  others: "NAME",
  options: {
    json: Options.flag("Prints the figures as JSON"),
    size: Options.whole("The MiB of the frame of frames", 1024, 1),
    host: Options.choice("HOST", "The host that runs them, this one without it", { among: hosts, absent: undefined })
  }
})

if (name === "watch") {
  const compared = await watch(commit) ?? Options.refuse(`There is no commit "${commit}" to compare with; name one, such as HEAD~1`)
  console.log(compared)
  process.exit()
}
if (!names.includes(name)) Options.refuse(`There is no bench "${name}"; there are ${[...names, "watch"].join(", ")}`)

if (host !== current()) {
  const [file, ...args] = command(host, import.meta.filename)
  const given = [...args, name, "--size", String(size), ...json ? ["--json"] : []]
  const child = spawn(file, given, { cwd: root, env: environment(), stdio: "inherit" })
  Children.add(child)
  const [status] = await once(child, "exit") as [number | null]
  process.exit(status ?? 1)
}

process.env["SYSTOLE_BENCH_SIZE"] = String(size)
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
if (json) console.log(JSON.stringify(rows(name, host, measured.flatMap(([, figures]) => figures))))
else console.log(
  `${measured.map(([title, figures]) => `${title}\n${table(figures)}`.trimStart()).join("\n\n")}\n${bench.note ?? ""}`.trimEnd()
)
