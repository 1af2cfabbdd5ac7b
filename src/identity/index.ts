export {
  type Comparison,
  compareSides,
  isSwept,
  type Marks,
  marksOf,
  type Remembered,
  rememberedAfter,
  rememberedIn,
  type Sides,
  withMark,
} from './meeting.ts';
export {
  addParent,
  ensureIdentity,
  type Identity,
  identityRow,
  newIdentity,
  readIdentity,
} from './own-identity.ts';
export { expectMatch, placeFacts } from './refusal.ts';
export {
  endArchives,
  type KnownArchive,
  marksHeld,
  newestMarks,
  noteArchive,
  readKnownArchives,
  readWarehouseSide,
} from './warehouse-side.ts';
