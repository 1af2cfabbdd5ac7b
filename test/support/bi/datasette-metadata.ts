import { readFileSync } from 'node:fs';

/** What `daywalk bi datasette` writes, as far as tests read it. */
export interface DatasetteMetadata {
  readonly databases: {
    readonly daywalk: {
      readonly tables: Readonly<
        Record<string, { readonly description: string; readonly columns: Readonly<Record<string, string>> }>
      >;
      readonly queries: Readonly<
        Record<
          string,
          {
            readonly title: string;
            readonly description: string;
            readonly sql: string;
            readonly params?: string[];
          }
        >
      >;
    };
  };
  readonly plugins: {
    readonly 'datasette-dashboards': Readonly<
      Record<string, { readonly title: string; readonly charts: Readonly<Record<string, DatasetteChart>> }>
    >;
  };
}

export interface DatasetteChart {
  readonly title: string;
  readonly db: string;
  readonly library: string;
  readonly query: string;
  readonly display: { readonly encoding: Readonly<Record<string, { readonly field: string }>> };
}

/** Reads a metadata file. */
export function readMetadata(path: string): DatasetteMetadata {
  return JSON.parse(readFileSync(path, 'utf8'));
}
