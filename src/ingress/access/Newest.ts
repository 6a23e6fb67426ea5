/**
 * Functions of texts that mostly repeat, such as the host that requests name.
 *
 * @module
 */

/**
 * A function that keeps its newest result. It shall depend on its text alone.
 */
export const newest = <A>(make: (text: string) => A): (text: string) => A => {
  let known: { readonly text: string; readonly result: A } | undefined
  return (text) => {
    if (known?.text !== text) known = { text, result: make(text) }
    return known.result
  }
}
