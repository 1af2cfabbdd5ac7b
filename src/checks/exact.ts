import { getNodePath, type Node, parseTree } from 'jsonc-parser';

/**
 * Finds the original text of parts of a parsed response. Parsing rounds numbers beyond 2^53 and loses 1e400; fields that
 * are kept as JSON and quarantined records take their digits from here.
 */
export interface ExactText {
  /** The text of `record`, an object or list of the parsed response; undefined if it is not part of it. */
  textOf(record: object): string | undefined;
  /** The text of one field of `record`. */
  fieldText(record: object, name: string): string | undefined;
  /** The text at a path such as `data[0].languages[1]` or `data[0].clients["web"]`. */
  textAt(path: string): string | undefined;
  /** The path of `record`, as {@link textAt} takes it; undefined if it is not part of the response. */
  pathOf(record: object): string | undefined;
}

/** The exact texts of a response. The first look-up costs as much as parsing it again. */
export function exactText(answer: { readonly text: string; readonly body: unknown }): ExactText {
  let root: Node | undefined;
  let index: Map<object, Node> | undefined;
  const membersOf = memberIndex();
  const memberOf = (node: Node | undefined, key: string | number) => node && membersOf(node).get(key);
  const tree = () => {
    root ??= parseTree(answer.text);
    return root;
  };
  const nodeOf = (record: object) => {
    index ??= nodesOf(answer.body, tree(), membersOf);
    return index.get(record);
  };
  const slice = (node: Node | undefined) => node && answer.text.slice(node.offset, node.offset + node.length);
  return {
    textOf: (record) => slice(nodeOf(record)),
    fieldText: (record, name) => slice(memberOf(nodeOf(record), name)),
    textAt: (path) => slice(keysOf(path).reduce(memberOf, tree())),
    pathOf: (record) => {
      const node = nodeOf(record);
      return node && pathText(getNodePath(node));
    },
  };
}

/** The node of every object and list in `body`, all found in one pass: a search for each would take quadratic time. */
function nodesOf(body: unknown, root: Node | undefined, membersOf: MembersOf): Map<object, Node> {
  const nodes = new Map<object, Node>();
  const left: [unknown, Node | undefined][] = [[body, root]];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [value, node] = next;
    if (typeof value !== 'object' || value === null || node === undefined) continue;
    nodes.set(value, node);
    for (const [key, member] of membersOf(node)) left.push([Reflect.get(value, key), member]);
  }
  return nodes;
}

type MembersOf = (node: Node) => ReadonlyMap<string | number, Node>;

/**
 * The members of a node by key, computed once per node, because each element of a list may be looked up. If a name occurs
 * twice, the last one counts, as in JSON.parse.
 */
function memberIndex(): MembersOf {
  const known = new Map<Node, Map<string | number, Node>>();
  return (node) => {
    const found = known.get(node);
    if (found !== undefined) return found;
    const members = new Map<string | number, Node>();
    for (const [index, child] of (node.children ?? []).entries()) {
      const [name, value] = node.type === 'object' ? (child.children ?? []) : [undefined, child];
      if (value !== undefined) members.set(name === undefined ? index : String(name.value), value);
    }
    known.set(node, members);
    return members;
  };
}

/** The path of keys, see {@link keysOf}. */
function pathText(keys: readonly (string | number)[]): string {
  return keys.reduce<string>((path, key) => {
    if (/^[A-Za-z_]\w*$/.test(String(key))) return path === '' ? String(key) : `${path}.${key}`;
    return `${path}[${JSON.stringify(key)}]`;
  }, '');
}

/** The keys of a path: names, numbers in brackets, and names in brackets as JSON texts. */
function keysOf(path: string): (string | number)[] {
  const steps = path.matchAll(/\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|([^.[]+)/g);
  return Array.from(steps, ([, index, quoted, name]) => {
    if (index !== undefined) return Number(index);
    return quoted === undefined ? (name ?? '') : String(JSON.parse(quoted));
  });
}
