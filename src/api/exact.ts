import { type Node, parseTree } from 'jsonc-parser';
import { isObject } from '../core/json.ts';

/**
 * Finds the original text of parts of a parsed answer. Parsing rounds numbers beyond 2^53 and loses 1e400; where such
 * a number stands in a field that is kept as JSON, or in a record that is set aside, its digits are kept from here.
 */
export interface ExactText {
  /** The text of `record`, an object of the parsed answer; undefined when it is not part of it. */
  textOf(record: unknown): string | undefined;
  /** The text of one field of `record`. */
  fieldText(record: object, name: string): string | undefined;
}

/** The exact texts of an answer. Cheap until something is asked. */
export function exactText(answer: { readonly text: string; readonly body: unknown }): ExactText {
  let tree: Node | undefined;
  const root = () => {
    tree ??= parseTree(answer.text);
    return tree;
  };
  const nodeOf = (record: unknown): Node | undefined => {
    const path = pathTo(answer.body, record);
    return path === undefined ? undefined : descend(root(), path);
  };
  const slice = (node: Node | undefined) => node && answer.text.slice(node.offset, node.offset + node.length);
  return {
    textOf: (record) => slice(nodeOf(record)),
    fieldText: (record, name) => slice(descend(nodeOf(record), [name])),
  };
}

/** The keys that lead from `root` to the very object `target`; undefined when it is not inside. */
function pathTo(root: unknown, target: unknown): (string | number)[] | undefined {
  if (root === target) return [];
  const members = Array.isArray(root) ? root.entries() : isObject(root) ? Object.entries(root) : [];
  for (const [key, member] of members) {
    const rest = typeof member === 'object' && member !== null ? pathTo(member, target) : undefined;
    if (rest !== undefined) return [key, ...rest];
  }
  return undefined;
}

/** The node at a path. Of a name that occurs twice the last one counts, as it does for JSON.parse. */
function descend(node: Node | undefined, path: readonly (string | number)[]): Node | undefined {
  let here = node;
  for (const key of path) {
    here =
      typeof key === 'number'
        ? here?.children?.[key]
        : here?.children?.findLast((member) => member.children?.[0]?.value === key)?.children?.[1];
  }
  return here;
}
