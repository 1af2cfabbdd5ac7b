import { isRecord } from '../input/parse.ts';
import type { PatchOperation } from './action.ts';

/** The patched JSON text and the number of changed places. */
export interface Patched {
  readonly json: string;
  readonly changes: number;
}

/** Applies the operations in their order. A text that is not JSON is returned unchanged. */
export function patchJson(json: string, operations: readonly PatchOperation[]): Patched {
  let root: unknown;
  try {
    root = JSON.parse(json);
  } catch {
    return { json, changes: 0 };
  }
  const raws: string[] = [];
  // The marker does not occur in the text, so that it can be replaced by raw JSON afterwards.
  const marker = `raw${json.length}x`;
  const nonce = json.includes(marker) ? `${marker}${json.length}` : marker;
  let changes = 0;
  for (const operation of operations) {
    const [, ...steps] = operation.path.split('/').map(unescapeStep);
    changes += walk(root, steps, (holder, key) => change(holder, key, operation, raws, nonce));
  }
  const text = JSON.stringify(root);
  return {
    json: text.replaceAll(new RegExp(`"${nonce}:(\\d+)"`, 'g'), (_, at: string) => raws[Number(at)] ?? ''),
    changes,
  };
}

/** Visits every place that the steps lead to. Returns the number of visits that changed something. */
function walk(
  node: unknown,
  steps: readonly string[],
  visit: (holder: object, key: string) => boolean,
): number {
  const [step, ...rest] = steps;
  if (step === undefined || typeof node !== 'object' || node === null) return 0;
  // Starts at the last element, because a visit may insert or remove elements.
  const keys = step === '*' ? Object.keys(node).reverse() : [step];
  let changes = 0;
  for (const key of keys) {
    if (rest.length === 0) changes += visit(node, key) ? 1 : 0;
    else if (Object.hasOwn(node, key)) changes += walk(valueAt(node, key), rest, visit);
  }
  return changes;
}

function change(
  holder: object,
  key: string,
  operation: PatchOperation,
  raws: string[],
  nonce: string,
): boolean {
  switch (operation.op) {
    case 'set':
      return put(holder, key, operation.value);
    case 'raw':
      return put(holder, key, `${nonce}:${raws.push(operation.text) - 1}`);
    case 'remove':
      if (!Object.hasOwn(holder, key)) return false;
      if (Array.isArray(holder)) return holder.splice(Number(key), 1).length > 0;
      return Reflect.deleteProperty(holder, key);
    case 'duplicate':
      if (!Array.isArray(holder) || !Object.hasOwn(holder, key)) return false;
      holder.splice(Number(key) + 1, 0, structuredClone(holder[Number(key)]));
      return true;
  }
}

function put(holder: object, key: string, value: unknown): boolean {
  if (Array.isArray(holder) && key !== '-' && !Object.hasOwn(holder, key)) return false;
  const place = Array.isArray(holder) && key === '-' ? String(holder.length) : key;
  // A definition, unlike an assignment, treats `__proto__` like any other key.
  return Reflect.defineProperty(holder, place, {
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  });
}

function valueAt(node: object, key: string): unknown {
  if (Array.isArray(node)) return node[Number(key)];
  return isRecord(node) ? node[key] : undefined;
}

function unescapeStep(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}
