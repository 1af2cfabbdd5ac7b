export { type Fired, type FiredHook, fire, runCommand } from './fire.ts';
export {
  type ConfiguredHook,
  type Edited,
  type HooksDocument,
  hooksOf,
  install,
  readDocument,
  remove,
} from './hooks-file.ts';
export { readStored, replaceStored, type StoredFile } from './hooks-file-storage.ts';
