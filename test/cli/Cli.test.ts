import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { connect } from "node:net"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { exits } from "../../src/cli/CliFailure.ts"
import { terminal } from "./Terminal.ts"

const greet = `import { Enzyme } from "systole"
export default Enzyme.make({
  name: "greet",
  query: "/signals/greet/:who",
  run: (tx, event) => {
    tx.increment(\`/data/greeted/\${event.params.who}\`)
    return event.payload
  }
})
`
const onDemand = `export default { spaces: { create: "on-demand" } }\n`
const inMemory = `export default { persistence: "memory" }\n`
const project = { "enzymes/greet.ts": greet, "systole.config.ts": onDemand }

/** The status for a path that is sent unnormalized. */
const raw = (url: string, path: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    let answer = ""
    const socket =
      connect(Number(port), hostname, () => socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`))
    socket.on("data", (chunk) => answer += String(chunk)).on("end", () => resolve(answer)).on("error", reject)
  })

type Terminal = Effect.Success<ReturnType<typeof terminal>>

/** Defines a test in a temporary project, with a time-out for child processes. */
const test = (name: string, files: Readonly<Record<string, string>>, run: (terminal: Terminal) => Promise<void>) =>
  it.live(name, () => Effect.flatMap(terminal(files), (terminal) => Effect.promise(() => run(terminal))))

describe("systole", () => {
  test("prints its commands and its exit codes", {}, async ({ run }) => {
    const help = await run("--help")
    assert.strictEqual(help.code, 0)
    for (const word of ["Exit codes", "dev", "start", "new", "space", "signal", "cell", "beat", "enzyme"]) assert.include(help.stdout, word)
    for (const code of Object.values(exits)) assert.match(help.stdout, new RegExp(`\\b${code} [a-z]`))
    assert.match((await run("--version")).stdout, /\d+\.\d+\.\d+/)
  })

  test("prints and exits as a process of its own as it does in the tests", project, async ({ run, spawned }) => {
    for (const args of [["--version"], ["bogus"], ["cell", "get", "shop", "/data/x"], ["space", "create", "home"]]) {
      const { code, stderr, stdout } = await spawned(...args)
      if (args[0] !== "space") assert.deepStrictEqual(await run(...args), { code, stderr, stdout })
      else assert.deepStrictEqual([code, (await run("space", "state", "home")).code], [0, 0])
    }
  })

  test("exits with 2 and prints no data for an invalid command line", project, async ({ run }) => {
    for (const args of [
      ["bogus"], ["signal"], ["signal", "shop"], ["signal", "shop", "--signal", "/s", "--wait", "-1"],
      ["signal", "shop", "--signal", "/s", "--at", "{"], ["cell", "set", "shop", "/data/x", "{"], ["cell", "get", "shop", "data"],
      ["beat", "show", "shop", "x"]
    ]) {
      const { code, stderr, stdout } = await run(...args)
      assert.deepStrictEqual([code, stdout], [2, ""], args.join(" "))
      assert.isAbove(stderr.length, 0)
    }
  })

  test("refuses JSON that would change, with its place, and sends each number that it accepts", project, async ({ json, run }) => {
    const { code, stderr } = await run("cell", "set", "shop", "/data/x", `{"id":9007199254740993}`)
    assert.strictEqual(code, 2)
    assert.include(stderr, "The value is refused: the number 9007199254740993 at /id has more digits than a number holds")
    assert.include((await run("signal", "shop", "--signal", "/s", "--payload", `{"a":1,"a":2}`)).stderr, "the key at /a is there twice")
    await json("space", "create", "shop")
    await json("cell", "set", "shop", "/data/x", "147573952589676412928")
    assert.strictEqual(await json("cell", "get", "shop", "/data/x"), 2 ** 67)
  })

  test("exits with 2 for an invalid configuration, and names the setting", {}, async ({ run, write }) => {
    const said = async (config: string, ...command: ReadonlyArray<string>) => {
      write("systole.config.ts", config)
      const { code, stderr } = await run(...command.length === 0 ? ["space", "ls"] : command)
      assert.strictEqual(code, 2, config)
      return stderr
    }
    assert.include(await said("export default { prot: 1 }"), "prot")
    assert.include(await said("export default {"), "systole.config.ts:1")
    assert.include(await said("export const x = 1"), "default export")
    assert.include(await said(`export default { persistence: "clouds" }`), "\"clouds\"")
    assert.include(await said(`export default { host: "0.0.0.0" }`, "start"), "token")
    const option = await said(`export default { persistence: { use: "sqlite", options: { syncMicros: 0 } } }`)
    assert.include(option, "syncMicros")
    assert.notInclude(option, "    at ")
  })

  describe("without a server", () => {
    test("opens the data of the project for each command", project, async ({ json, run }) => {
      assert.deepStrictEqual(await json("space", "create", "shop"), { space: "shop", created: true })
      assert.deepStrictEqual(await json("space", "ls"), ["shop"])
      const receipt = await json(
        "signal", "shop", "--signal", "/signals/greet/ann", "--payload", `{"a":1}`, "--id", "one", "--wait", "60"
      ) as Record<string, unknown>
      assert.strictEqual(receipt["status"], "handled")
      assert.deepStrictEqual(
        await json("signal", "shop", "--signal", "/signals/greet/ann", "--payload", `{"a":1}`, "--id", "one", "--wait", "60"),
        receipt
      )
      assert.strictEqual(await json("cell", "get", "shop", "/data/greeted/ann"), 1)
      assert.deepStrictEqual(await json("cell", "set", "shop", "/data/a#/b/c", "[1,2]"), { beat: 6 })
      assert.strictEqual(await json("cell", "get", "shop", "/data/a#/b/c/1"), 2)
      assert.deepStrictEqual(await json("cell", "ls", "shop", "/data"), ["/data/a", "/data/greeted/ann"])
      assert.deepStrictEqual(await json("cell", "ls", "shop"), ["/data/a", "/data/greeted/ann"])
      const all = await json("cell", "ls", "shop", "--all") as ReadonlyArray<string>
      assert.includeMembers([...all], ["/data/a", "/sys/enzymes/greet"])
      const system = await json("cell", "ls", "shop", "/sys/enzymes") as ReadonlyArray<string>
      assert.include(system, "/sys/enzymes/greet")
      assert.deepStrictEqual(await json("cell", "watch", "shop", "/data/a", "--times", "1"), { beat: 6, value: { b: { c: [1, 2] } } })
      const beats = await json("beat", "ls", "shop") as ReadonlyArray<{ readonly beat: number }>
      assert.deepStrictEqual(beats.map(({ beat }) => beat), [6, 5, 4, 3, 2, 1, 0])
      assert.include(JSON.stringify(await json("beat", "show", "shop", "5")), "greet")
      assert.include((await run("enzyme", "ls")).stdout, "/signals/greet/:who")
      const unasked = await run("space", "delete", "shop")
      assert.deepStrictEqual([unasked.code, unasked.stdout], [2, ""])
      assert.include(unasked.stderr, "the command has no terminal. Give --yes to delete it with all its data (space/unconfirmed)")
      assert.deepStrictEqual(await json("space", "ls"), ["shop"])
      assert.deepStrictEqual(await json("space", "delete", "shop", "--yes"), { space: "shop", removed: true })
      assert.deepStrictEqual(await json("space", "ls"), [])
      assert.include((await run("space", "delete", "shop", "--yes")).stderr, "There is no space")
    })

    test("waits for times, and for seconds", project, async ({ json, run }) => {
      await json("space", "create", "shop")
      const greet = ["signal", "shop", "--signal", "/signals/greet/ann"]
      for (const wait of ["60", "60s", "1m", "59500ms"]) assert.deepInclude(await json(...greet, "--wait", wait), { status: "handled" })
      for (const wait of ["61s", "2m", "soon", "-1", "1.5s"]) {
        const { code, stderr } = await run(...greet, `--wait=${wait}`)
        assert.deepStrictEqual([code, stderr.includes("Write it like 10s, 500ms or 1m")], [2, true], stderr)
      }
      assert.strictEqual((await run("cell", "get", "shop", "/data/greeted/ann", "--pull", "--wait", "0s")).code, 2)
      await json(...greet, "--at", "1h")
      const waiting = await run("space", "waiting", "shop")
      assert.include(waiting.stdout, "/signals/greet/ann")
      assert.strictEqual((await run(...greet, "--at", "1 hour")).code, 2)
    })

    test("distinguishes failed, absent and locked by exit code", project, async ({ json, root, run }) => {
      await json("space", "create", "shop")
      const codeOf = async (...args: ReadonlyArray<string>) => (await run(...args)).code
      const unheard = await run("signal", "shop", "--signal", "/signals/unheard", "--wait", "60")
      assert.strictEqual(unheard.code, 3)
      assert.include(unheard.stderr, "/signals/unheard")
      const later = await run("signal", "shop", "--signal", "/signals/greet/ann", "--at", `{"ms":3600000}`, "--wait", "0s")
      assert.strictEqual(later.code, 5)
      assert.include(later.stderr, "not handled yet")
      assert.strictEqual(await codeOf("cell", "set", "shop", "/rt/receipts/x", "1"), 1)
      assert.strictEqual(await codeOf("cell", "get", "shop", "/data/nothing"), 3)
      assert.strictEqual(await codeOf("cell", "get", "market", "/data/nothing"), 3)
      assert.strictEqual(await codeOf("beat", "show", "shop", "99"), 3)
      const other = new DatabaseSync(join(root, ".data", "shop.sqlite"))
      other.exec("BEGIN EXCLUSIVE")
      assert.strictEqual(await codeOf("cell", "set", "shop", "/data/nothing", "1"), 4)
      // Opening and reading take no lock.
      assert.strictEqual(await codeOf("cell", "get", "shop", "/data/nothing"), 3)
      other.close()
      writeFileSync(join(root, ".data", "torn.sqlite"), "no database at all".repeat(100))
      const torn = await run("cell", "get", "torn", "/data/nothing")
      assert.strictEqual(torn.code, 1)
      // The error of the host is in the log, not in the response.
      assert.match(torn.stderr, /^sev:crit store\/trouble: .*torn\.sqlite cannot be read: it is not an SQLite database/m)
      assert.strictEqual(torn.stderr.split("SQLite").length, 2)
      assert.notInclude(torn.stderr, "    at ")
    })

    test("stores its data in the configured folder", {
      ...project,
      "systole.config.ts": `export default { persistence: "forgetful", spaces: { create: "on-demand" } }\n`,
      "plugins/anywhere.ts": `import { MemoryStore, Plugin } from "systole"
export default Plugin.make({ name: "forgetful", version: "1.0.0", provides: { persistence: () => MemoryStore.layer } })
`
    }, async ({ json, root, run, write }) => {
      const handled = async () => (await run("signal", "shop", "--signal", "/signals/greet/ann", "--wait", "60")).code
      assert.strictEqual(await handled(), 0)
      assert.deepStrictEqual(await json("space", "ls"), [])
      assert.isFalse(existsSync(join(root, ".data")))
      write("systole.config.ts", onDemand)
      assert.strictEqual(await handled(), 0)
      assert.deepStrictEqual(await json("space", "ls"), ["shop"])
      assert.isTrue(existsSync(join(root, ".data", "shop.sqlite")))
    })

    test("reports each broken module and runs the others", {
      ...project,
      "enzymes/broken.ts": "throw new Error('no luck')\n"
    }, async ({ run }) => {
      const { code, stderr, stdout } = await run("signal", "shop", "--signal", "/signals/greet/ann", "--wait", "60")
      assert.strictEqual(code, 0)
      assert.include(stdout, "handled")
      assert.match(stderr, /^sev:crit module\/broken: Module enzymes\/broken\.ts is not loaded/m)
      assert.lengthOf(stderr.match(/module\/broken/g)!, 1)
      assert.include(stderr, "no luck")
    })
  })

  describe("new", () => {
    test("creates a project that runs, and modules in it", {}, async ({ root, run, runIn }) => {
      assert.strictEqual((await run("new", "project", "shop")).code, 0)
      for (const file of ["systole.config.ts", "test/greet.test.ts"]) assert.isTrue(existsSync(join(root, "shop", file)), file)
      assert.strictEqual((await runIn("shop", "new", "enzyme", "tally")).code, 0)
      assert.strictEqual((await runIn("shop", "new", "plugin", "extra")).code, 0)
      const listed = JSON.parse((await runIn("shop", "enzyme", "ls", "--json")).stdout) as ReadonlyArray<{ readonly name: string }>
      assert.deepStrictEqual(listed.map(({ name }) => name).sort(), ["extra_ping", "greet", "tally"])
      await runIn("shop", "space", "create", "first")
      const handled = await runIn("shop", "signal", "first", "--signal", "/signals/greet/ann", "--wait", "60")
      assert.deepStrictEqual([handled.code, handled.stderr], [0, ""])
      assert.match(handled.stdout, /^handled \S+\n {2}greet +ok +beat \d+ +\{"times":1\}\n$/)
    })

    test("overwrites no file, and refuses names with a path", { "enzymes/tally.ts": "mine" }, async ({ root, run }) => {
      assert.strictEqual((await run("new", "enzyme", "tally")).code, 1)
      assert.strictEqual(readFileSync(join(root, "enzymes", "tally.ts"), "utf8"), "mine")
      assert.strictEqual((await run("new", "enzyme", "../tally")).code, 2)
    })
  })

  describe("with a server", () => {
    test("sends commands to the running server", {
      "enzymes/greet.ts": greet,
      "systole.config.ts": inMemory
    }, async ({ json, root, run, serve }) => {
      const { pid, stop, url } = await serve("dev")
      const note = join(root, ".data", "server.json")
      assert.strictEqual(statSync(note).mode & 0o777, 0o600)
      const { token, ...rest } = JSON.parse(readFileSync(note, "utf8")) as { readonly token: string }
      assert.deepStrictEqual(rest, { url, pid })
      assert.match(token, /^[0-9a-f]{64}$/)
      await json("signal", "shop", "--signal", "/signals/greet/ann", "--wait", "60")
      assert.strictEqual(await json("cell", "get", "shop", "/data/greeted/ann"), 1)
      assert.strictEqual(await (await fetch(`${url}/v1/spaces/shop/cells/data/greeted/ann`)).json(), 1)
      const second = await run("dev", "--port", "0")
      assert.strictEqual(second.code, 4)
      assert.include(second.stderr, url)
      const { code, stderr } = await stop("SIGTERM")
      assert.deepStrictEqual([code, stderr], [0, "stopped\n"])
      assert.isFalse(existsSync(note))
      assert.strictEqual((await run("cell", "get", "shop", "/data/greeted/ann")).code, 3)
    })

    test("opens the data after the server was killed, and finds all acknowledged signals", project, async ({ json, root, serve }) => {
      const { stop, url } = await serve("start")
      const answer = await fetch(`${url}/v1/spaces/shop/signals`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ signal: "/signals/greet/ann", id: "one" })
      })
      assert.strictEqual(answer.status, 202)
      await stop("SIGKILL")
      assert.isTrue(existsSync(join(root, ".data", "server.json")))
      const again =
        await json("signal", "shop", "--signal", "/signals/greet/ann", "--id", "one", "--wait", "60") as { readonly status: string }
      assert.strictEqual(again.status, "handled")
      assert.strictEqual(await json("cell", "get", "shop", "/data/greeted/ann"), 1)
    })

    test("sends the configured token, and requires it of other clients", {
      "systole.config.ts": `export default { persistence: "memory", token: "a-token-of-some-length" }\n`
    }, async ({ json, serve }) => {
      const { stop, url } = await serve("start")
      assert.strictEqual((await fetch(`${url}/v1/spaces`)).status, 401)
      assert.deepStrictEqual(await json("space", "create", "shop"), { space: "shop", created: true })
      assert.strictEqual((await stop("SIGINT")).code, 0)
    })

    test("ignores a server file without a responding server, even if a process has its id", {
      ...project,
      ".data/server.json": JSON.stringify({ url: "http://127.0.0.1:9", pid: process.pid, token: "a-token" })
    }, async ({ json, root, serve }) => {
      assert.deepStrictEqual(await json("space", "ls"), [])
      const { pid } = await serve("start")
      assert.strictEqual((JSON.parse(readFileSync(join(root, ".data", "server.json"), "utf8")) as { readonly pid: number }).pid, pid)
    })

    test("acts on the data folder of each command, through the server of that folder", project, async ({ json, root, serve }) => {
      const { stop, url } = await serve("start", "--data", "elsewhere")
      await json("space", "create", "shop", "--data", "elsewhere")
      assert.deepStrictEqual(await (await fetch(`${url}/v1/spaces`)).json(), { spaces: ["shop"], next: null })
      assert.deepStrictEqual(await json("space", "ls"), [])
      assert.isFalse(existsSync(join(root, ".data")))
      assert.strictEqual(statSync(join(root, "elsewhere")).mode & 0o777, 0o700)
      await stop("SIGTERM")
      assert.deepStrictEqual(await json("space", "ls", "--data", "elsewhere"), ["shop"])
    })

    test("continues pending work after a restart, and reports a space that cannot be opened", {
      "systole.config.ts": onDemand,
      "enzymes/tell.ts": `export default { name: "tell", query: "/signals/tell", run: (tx, event) => console.log(JSON.stringify({ told: ` +
        "event.payload })) }\n"
    }, async ({ root, run, serve }) => {
      const first = await serve("start")
      assert.strictEqual((await run("signal", "shop", "--signal", "/signals/tell", "--payload", "17", "--at", `{"ms":1500}`)).code, 0)
      await first.stop("SIGKILL")
      writeFileSync(join(root, ".data", "a-torn-one.sqlite"), "no database at all".repeat(100))
      const second = await serve("start")
      assert.deepStrictEqual(await second.next(), { told: 17 })
      const { code, stderr } = await second.stop("SIGTERM")
      assert.strictEqual(code, 0)
      assert.match(stderr, /^sev:crit store\/trouble: .*a-torn-one\.sqlite cannot be read/m)
      assert.notInclude(stderr, "    at ")
    })

    test("survives an unhandled rejection and a throwing timer of a module", {
      "systole.config.ts": inMemory,
      "enzymes/careless.ts": `const after = setTimeout
export default {
  name: "careless",
  query: "/signals/careless",
  trusted: true,
  run: () => {
    void Promise.reject(new Error("left behind"))
    return "run"
  }
}
after(() => { throw new Error("thrown late") }, 10)
`
    }, async ({ json, serve }) => {
      const { stop } = await serve("dev")
      for (let i = 0; i < 2; i++) {
        const receipt = await json("signal", "shop", "--signal", "/signals/careless", "--wait", "60") as { readonly status: string }
        assert.strictEqual(receipt.status, "handled")
      }
      const { code, stderr } = await stop("SIGTERM")
      assert.strictEqual(code, 0)
      for (const part of ["left behind", "thrown late"]) assert.include(stderr, part)
      assert.notInclude(stderr, "    at ")
    })

    test("resolves dot segments equally on every host", {
      "systole.config.ts": onDemand,
      "enzymes/greet.ts": greet
    }, async ({ json, serve }) => {
      const { url } = await serve("start")
      await json("cell", "set", "shop", "/data/a", "1")
      for (const path of [
        "/v1/spaces/none/../shop/cells/data/a",
        "/v1/spaces/shop/cells/data/x/%2e%2e/a",
        "/v1/spaces/shop/cells/./data/%2E/a"
      ]) {
        assert.match(await raw(url, path), /^HTTP\/1\.1 200 [^]*1/, path)
      }
      assert.match(await raw(url, "/v1/spaces/shop/cells/data/..%2fa"), /^HTTP\/1\.1 400 /)
    })

    test("reports that its port is in use", { "systole.config.ts": inMemory }, async ({ root, run, serve }) => {
      const { url } = await serve("start")
      writeFileSync(
        join(root, "systole.config.ts"),
        `export default { persistence: "memory", data: "other", port: ${new URL(url).port} }\n`
      )
      const second = await run("start")
      assert.strictEqual(second.code, 4)
      assert.include(second.stderr, new URL(url).port)
    })
  })
})
