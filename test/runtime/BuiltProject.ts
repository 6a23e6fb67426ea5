/**
 * Projects that `systole build` makes Workers of, for tests.
 *
 * @module
 */
import { assert } from "@effect/vitest"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import * as Command from "../scripts/Command.ts"
import { node } from "../scripts/Host.ts"
import { run } from "../scripts/Process.ts"

/** A built project. */
export interface Built {
  /** The folder of the build. */
  readonly worker: string
  /** A folder for the storage of objects. */
  readonly data: string
  /** The output of the build. */
  readonly output: string
}

/** Builds a project of some files for Workers, and keeps it until `use` ends. */
export const building = async (
  files: Readonly<Record<string, string>>,
  use: (built: Built) => Promise<void>,
  env: Readonly<Record<string, string>> = {}
): Promise<void> => {
  await Command.ensure()
  const folder = mkdtempSync(join(tmpdir(), "systole-built-"))
  try {
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, file)), { recursive: true })
      writeFileSync(join(folder, file), text)
    }
    const { code, output } = await run([node(), Command.file, "build", "--target", "workers", "--out", "worker"], { cwd: folder, env })
    assert.strictEqual(code, 0, output)
    await use({ worker: join(folder, "worker"), data: join(folder, "data"), output })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
