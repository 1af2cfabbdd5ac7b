import type { Style } from '../text/style.ts';

/** A titled part of a screen; nothing if it has no lines. */
export function section(
  title: string,
  lines: readonly string[],
  { style }: { readonly style: Style },
): string[] {
  return lines.length === 0 ? [] : ['', style.bold(title), ...lines];
}
