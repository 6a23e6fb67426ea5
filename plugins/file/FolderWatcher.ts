/**
 * The watcher of one folder, by the means of the host.
 *
 * @module
 */
import { watch } from "node:fs"
import { relative } from "node:path"

/** The receiver of changes: each by its path relative to the folder, with the failure of the watcher. */
export interface Receiver {
  readonly changed: (name: string) => void
  readonly failed: (error: unknown) => void
}

interface DenoWatcher extends AsyncIterable<{ readonly kind: string; readonly paths: ReadonlyArray<string> }> {
  readonly close: () => void
}

const { Deno } = globalThis as {
  readonly Deno?: { readonly watchFs: (path: string, options: { readonly recursive: boolean }) => DenoWatcher }
}

const slashed = (path: string): string => path.replaceAll("\\", "/")

/** Each watcher of Deno hears the changes of all, and its `node:fs` names no folder of them. */
const receive = async (watcher: DenoWatcher, real: string, { changed, failed }: Receiver): Promise<void> => {
  try {
    for await (const { kind, paths } of watcher) if (kind !== "access") for (const path of paths) changed(slashed(relative(real, path)))
  } catch (error) {
    failed(error)
  }
}

/** Watches a folder, and with `recursive` all below it. Returns the call that ends this. */
export const start = (real: string, recursive: boolean, receiver: Receiver): () => void => {
  if (Deno !== undefined) {
    const watcher = Deno.watchFs(real, { recursive })
    void receive(watcher, real, receiver)
    let isOpen = true
    return () => {
      if (isOpen) watcher.close()
      isOpen = false
    }
  }
  const watcher = watch(real, { recursive, persistent: false })
  watcher.on("error", receiver.failed)
  watcher.on("change", (_, name) => receiver.changed(slashed(String(name ?? ""))))
  return () => watcher.close()
}
