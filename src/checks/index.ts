export { type ExactText, exactText } from './exact.ts';
export {
  Flag,
  FractionalInstant,
  fieldValue,
  Identity,
  Instant,
  Label,
  listOf,
  Metric,
  mapOf,
  recordOf,
} from './fields.ts';
export {
  type Checked,
  changedCopy,
  type EarlierRows,
  originalOf,
  type Rejected,
  type RowCheck,
  rowCheck,
} from './row-check.ts';
export { type Violation, violationsOf } from './violations.ts';
