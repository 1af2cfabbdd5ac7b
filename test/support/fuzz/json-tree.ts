/**
 * JSON as it is written: an object may have a name twice, and a scalar is the text that stands there. What JSON.parse
 * hands out could hold neither.
 */
export type Tree = Scalar | List | Members;
export interface Scalar {
  text: string;
}
export interface List {
  items: Tree[];
}
export interface Members {
  members: [name: string, value: Tree][];
}

/** Where a tree hangs: in a list or in an object, at an index. */
export interface Place {
  readonly holder: List | Members;
  readonly index: number;
}

/** The tree of a parsed value. */
export function treeOf(value: unknown): Tree {
  if (Array.isArray(value)) return { items: value.map(treeOf) };
  if (typeof value === 'object' && value !== null)
    return { members: Object.entries(value).map(([name, member]) => [name, treeOf(member)]) };
  return { text: JSON.stringify(value) };
}

/** The JSON text of a tree. */
export function textOf(tree: Tree): string {
  if ('text' in tree) return tree.text;
  if ('items' in tree) return `[${tree.items.map(textOf).join(',')}]`;
  return `{${tree.members.map(([name, value]) => `${JSON.stringify(name)}:${textOf(value)}`).join(',')}}`;
}

/** Every place in a tree. */
export function placesIn(tree: Tree): Place[] {
  const places: Place[] = [];
  const left: Tree[] = [tree];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if ('text' in next) continue;
    const children = 'items' in next ? next.items : next.members.map(([, value]) => value);
    for (const [index, child] of children.entries()) {
      places.push({ holder: next, index });
      left.push(child);
    }
  }
  return places;
}

/** The value at a place. */
export function at({ holder, index }: Place): Tree {
  const found = 'items' in holder ? holder.items[index] : holder.members[index]?.[1];
  return found ?? { text: 'null' };
}

/** Hangs something else there. */
export function put({ holder, index }: Place, tree: Tree): void {
  if ('items' in holder) holder.items[index] = tree;
  else holder.members[index] = [holder.members[index]?.[0] ?? '', tree];
}
