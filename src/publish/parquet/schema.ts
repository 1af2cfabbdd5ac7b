import type { SchemaElement } from 'hyparquet-writer';
import type { LakeColumn, LakeType } from './column.ts';

type Annotation = Omit<SchemaElement, 'name' | 'repetition_type'>;

const TEXT = { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } } as const;

/** Older readers look at `converted_type` only, newer ones at `logical_type` too. */
const ANNOTATIONS: Readonly<Record<LakeType, Annotation>> = {
  string: TEXT,
  date: { type: 'INT32', converted_type: 'DATE', logical_type: { type: 'DATE' } },
  // An instant in UTC for every reader. The logical type means the same, but makes DuckDB read a TIMESTAMP WITH TIME ZONE,
  // and most of DuckDB's functions for that need an extension.
  timestamp: { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' },
  double: { type: 'DOUBLE' },
  integer: { type: 'INT64' },
  boolean: { type: 'BOOLEAN' },
  list: { num_children: 1, converted_type: 'LIST', logical_type: { type: 'LIST' } },
};

/** Returns the Parquet schema of files with these columns. */
export function fileSchemaOf(columns: readonly LakeColumn[]): SchemaElement[] {
  return [{ name: 'root', num_children: columns.length }, ...columns.flatMap(elementsOf)];
}

function elementsOf({ name, type, isRequired }: LakeColumn): SchemaElement[] {
  const element: SchemaElement = {
    name,
    repetition_type: isRequired ? 'REQUIRED' : 'OPTIONAL',
    ...ANNOTATIONS[type],
  };
  return type === 'list' ? [element, ...LIST_OF_TEXTS] : [element];
}

/** The three levels that the format prescribes for a list. */
const LIST_OF_TEXTS: readonly SchemaElement[] = [
  { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
  { name: 'element', repetition_type: 'OPTIONAL', ...TEXT },
];
