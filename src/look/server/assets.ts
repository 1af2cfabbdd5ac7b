import { createHash } from 'node:crypto';
import { script } from '../style/comfort-script.ts';
import { styleSheet } from '../style/sheet.ts';
import type { Answer } from './answer.ts';

/** Paths of the style sheet and the script. They hold nothing of the warehouse, so the login may show them. */
export const ASSETS = { style: '/assets/style.css', script: '/assets/script.js' } as const;

const CONTENT: ReadonlyMap<string, { readonly type: string; readonly text: string }> = new Map([
  [ASSETS.style, { type: 'text/css', text: styleSheet }],
  [ASSETS.script, { type: 'text/javascript', text: script }],
]);

/** Answers a request for an asset; null if the path is none. */
export function assetAt(path: string, ifNoneMatch: string | undefined): Answer | null {
  const found = CONTENT.get(path);
  if (found === undefined) return null;
  const etag = `"${createHash('sha256').update(found.text).digest('base64url').slice(0, 22)}"`;
  const headers = { etag, 'cache-control': 'no-cache', 'content-type': `${found.type}; charset=utf-8` };
  const isKnown = ifNoneMatch?.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag) ?? false;
  return isKnown ? { status: 304, body: '', headers } : { status: 200, body: found.text, headers };
}
