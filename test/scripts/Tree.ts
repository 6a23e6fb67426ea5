/**
 * Copies of the project, in which a script may change and build what it likes while others use the project itself.
 *
 * @module
 */
import { cp, mkdtemp, symlink } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, relative } from "node:path"
import { root } from "./Host.ts"

const left = new Set(["node_modules", ".git", "dist"])

/** Copies the project, without what is built, to a temporary folder, which the caller removes. Its packages are those of the project. */
export const copy = async (prefix: string): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), prefix))
  await cp(root, folder, { recursive: true, filter: (source) => !left.has(relative(root, source)) })
  await symlink(join(root, "node_modules"), join(folder, "node_modules"))
  return folder
}
