import { afterString } from '../core/json-text.ts';
import { isPseudonym } from './email.ts';

/** What a text in JSON becomes. */
export interface TextEraser {
  /** True for the ID of an erased person. */
  isErasedUser(text: string): boolean;
  /**
   * The text without erased people.
   * @param isId it is where IDs of users stand, so that it is one even if it looks like an ordinary word
   */
  text(text: string, isId: boolean): string;
  /**
   * What replaces an email address of an erased person, also one that was never seen before.
   * @param isSure the address is in the same object as the ID, so it is no one else's
   */
  ownEmail(email: string, isSure: boolean): string;
}

/** Fields that hold the ID of the person whom a record is about; not that of a manager. */
const OWN_ID_FIELD = /^(?:user(?:[_-]?id)?|id|group_key)$/i;
/** Fields that hold an address of the person whom a record is about; not that of a manager. */
const OWN_EMAIL_FIELD =
  /^(?!.*(?:manager|supervisor|owner|contact|support|admin|sender|author)).*e-?mails?(?:[_-]?address(?:es)?)?$|^mail$/i;
/** Those of them that hold the address of this person and of no group. */
const SURE_EMAIL_FIELD = /^(?:user[_-]?)?e-?mail(?:[_-]?address)?$/i;
/** Fields that hold the name of a person if they are in the record of one. */
const NAME_FIELD =
  /^(?:display|full|first|last|given|family|real|user)[_-]?name$|^(?:login|username|nickname)$/i;
/** Replaces the name of an erased person. */
const NAME_ERASED = '[erased]';

/** What the structure of JSON consists of. */
const MARK = /["{}[\]:]/g;

/** A text in JSON: its place, what it says, and where it belongs. */
interface Literal {
  readonly start: number;
  readonly end: number;
  readonly value: string;
  /** The field that it, or the list with it, is the value of; undefined for names of fields. */
  readonly field: string | undefined;
  /** The innermost object around it, and the objects around that one; the outermost value has none. */
  readonly object: ObjectScope | undefined;
}

class ObjectScope {
  readonly parent: ObjectScope | undefined;
  isOwn = false;

  constructor(parent: ObjectScope | undefined) {
    this.parent = parent;
  }
}

/**
 * Erases people from a JSON text. All other characters stay as they are. An object that holds the ID of an erased person
 * belongs to that person, with everything in it: its email addresses and names are replaced too.
 * @param json valid JSON, nested at any depth
 * @param isOwn all of the text belongs to an erased person
 */
export function eraseJson(json: string, eraser: TextEraser, isOwn = false): string {
  const literals = literalsOf(json);
  for (const { object, value, field } of literals)
    if (object !== undefined && isOwnId(field) && eraser.isErasedUser(value)) object.isOwn = true;
  let done = '';
  let from = 0;
  for (const literal of literals) {
    const after = replaced(literal, eraser, isOwn);
    if (after === literal.value) continue;
    done += json.slice(from, literal.start) + JSON.stringify(after);
    from = literal.end;
  }
  return done + json.slice(from);
}

function replaced({ value, field, object }: Literal, eraser: TextEraser, isOwn: boolean): string {
  const after = eraser.text(value, isOwnId(field));
  // An ID inside an address or a name is not all of it.
  if (isPseudonym(after) || field === undefined || !(isOwn || belongs(object))) return after;
  const isBeside = object?.isOwn === true || (isOwn && object?.parent === undefined);
  const isSure = isBeside && SURE_EMAIL_FIELD.test(field);
  if (OWN_EMAIL_FIELD.test(field)) {
    const email = eraser.ownEmail(value, isSure);
    return email === value ? after : email;
  }
  return NAME_FIELD.test(field) ? NAME_ERASED : after;
}

function isOwnId(field: string | undefined): boolean {
  return field !== undefined && OWN_ID_FIELD.test(field);
}

function belongs(object: ObjectScope | undefined): boolean {
  for (let scope = object; scope !== undefined; scope = scope.parent) if (scope.isOwn) return true;
  return false;
}

/** Every text of a JSON text, in order. Does not recurse, so that no depth is too much. */
function literalsOf(json: string): Literal[] {
  const literals: Literal[] = [];
  // A list has the object around it, but is no object: its texts are no names of fields.
  const stack: { scope: ObjectScope | undefined; isObject: boolean; list: string | undefined }[] = [];
  let name = '';
  let isValue = false;
  MARK.lastIndex = 0;
  for (let mark = MARK.exec(json); mark !== null; mark = MARK.exec(json)) {
    const [sign] = mark;
    const top = stack.at(-1);
    if (sign === '{') stack.push({ scope: new ObjectScope(top?.scope), isObject: true, list: undefined });
    else if (sign === '[') {
      const list = top?.isObject === true ? name : top?.list;
      stack.push({ scope: top?.scope, isObject: false, list });
    } else if (sign === '}' || sign === ']') stack.pop();
    else if (sign === '"') {
      const end = afterString(json, mark.index);
      const value = String(JSON.parse(json.slice(mark.index, end)));
      const field = top?.isObject === true ? (isValue ? name : undefined) : top?.list;
      literals.push({ start: mark.index, end, value, field, object: top?.scope });
      name = value;
      MARK.lastIndex = end;
    }
    isValue = sign === ':';
  }
  return literals;
}
