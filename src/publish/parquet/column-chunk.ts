import { ByteWriter, type ParquetWriter } from 'hyparquet-writer';
import { writePageHeader } from 'hyparquet-writer/src/datapage.js';
import { snappyCompress } from 'hyparquet-writer/src/snappy.js';
import type { Dictionary } from './dictionary.ts';
import { appendRuns, bitsOf } from './run-lengths.ts';

/** What a file's footer tells of the values of a column in a row group. */
export type ColumnChunk = ParquetWriter['row_groups'][number]['columns'][number];
type Meta = NonNullable<ColumnChunk['meta_data']>;

/** The form of a column, the same in every row group. */
export interface ChunkForm {
  readonly type: Meta['type'];
  /** The names from the column down to its values. */
  readonly path: readonly string[];
  readonly isCompressed: boolean;
  readonly hasStatistics: boolean;
  /** Levels of a value that is there; 0 in both where every row has one value. */
  readonly definitionMax: number;
  readonly repetitionMax: number;
}

/** The values of a column in a row group. */
export interface ChunkContent {
  readonly rows: number;
  readonly dictionary: Dictionary;
  /** The numbers in the dictionary of the values that are there. */
  readonly numbers: Uint32Array;
  /** How much of each value is there; of an absent one too. Left out where `definitionMax` is 0. */
  readonly definition?: Uint8Array;
  /** Zero where a row begins. Left out where `repetitionMax` is 0. */
  readonly repetition?: Uint8Array;
}

/**
 * A dictionary is used where it and the numbers take at most this share of the plain values: reading it costs a look at
 * each value, which a tenth of the file is not worth.
 */
const DICTIONARY_SHARE_MAX = 0.5;

/** Bytes that the buffer of a page begins with. */
const BUFFER_BYTES = 64 * 1024;

/** Writes the values of a column in a row group: a dictionary where it pays, and one page. */
export function writeChunk(out: ByteWriter, form: ChunkForm, content: ChunkContent): ColumnChunk {
  const start = out.offset;
  const { dictionary } = content;
  const bits = bitsOf(dictionary.count - 1);
  const usesDictionary = isWorthWhile(content, bits);
  const dictionarySize = usesDictionary ? writeDictionary(out, form, dictionary) : 0;
  const pageStart = out.offset;
  const pageSize = writePage(out, form, { ...content, bits: usesDictionary ? bits : null });
  const encoding = usesDictionary ? 'RLE_DICTIONARY' : 'PLAIN';
  return {
    file_offset: BigInt(start),
    meta_data: {
      type: form.type,
      encodings: usesDictionary ? ['PLAIN', encoding] : [encoding],
      path_in_schema: [...form.path],
      codec: form.isCompressed ? 'SNAPPY' : 'UNCOMPRESSED',
      num_values: BigInt(valuesOf(content)),
      total_uncompressed_size: BigInt(dictionarySize + pageSize),
      total_compressed_size: BigInt(out.offset - start),
      data_page_offset: BigInt(pageStart),
      ...(usesDictionary ? { dictionary_page_offset: BigInt(start) } : {}),
      ...(form.hasStatistics ? { statistics: statisticsOf(content) } : {}),
    },
  };
}

/** Values of a page, the absent ones too. */
function valuesOf({ definition, numbers }: ChunkContent): number {
  return definition?.length ?? numbers.length;
}

function isWorthWhile({ dictionary, numbers }: ChunkContent, bits: number): boolean {
  if (!dictionary.isAllowed || numbers.length === 0) return false;
  const packed = Math.ceil((numbers.length * bits) / 8);
  return dictionary.length() + packed <= dictionary.plainLength(numbers) * DICTIONARY_SHARE_MAX;
}

function statisticsOf(content: ChunkContent): NonNullable<Meta['statistics']> {
  const { min, max } = content.dictionary.bounds();
  const nulls = valuesOf(content) - content.numbers.length;
  return {
    null_count: BigInt(nulls),
    ...(min === undefined || max === undefined ? {} : { min_value: min, max_value: max }),
  };
}

/** Answers the bytes that the dictionary has without compression. */
function writeDictionary(out: ByteWriter, { isCompressed }: ChunkForm, dictionary: Dictionary): number {
  const plain = new ByteWriter(dictionary.length());
  dictionary.append(plain);
  const bytes = isCompressed ? snappyCompress(plain.getBytes()) : plain.getBytes();
  const start = out.offset;
  writePageHeader(out, {
    type: 'DICTIONARY_PAGE',
    uncompressed_page_size: plain.offset,
    compressed_page_size: bytes.length,
    dictionary_page_header: { num_values: dictionary.count, encoding: 'PLAIN' },
  });
  const headerSize = out.offset - start;
  out.appendBytes(bytes);
  return headerSize + plain.offset;
}

/** Answers the bytes that the page has without compression. Without `bits` the values are plain. */
function writePage(
  out: ByteWriter,
  { isCompressed, definitionMax, repetitionMax }: ChunkForm,
  content: ChunkContent & { readonly bits: number | null },
): number {
  const { rows, dictionary, numbers, definition, repetition, bits } = content;
  const page = new ByteWriter(BUFFER_BYTES);
  const repetitionSize = repetition ? appendRuns(page, repetition, bitsOf(repetitionMax)) : 0;
  const definitionSize = definition ? appendRuns(page, definition, bitsOf(definitionMax)) : 0;
  const levelsSize = page.offset;
  if (bits === null) dictionary.appendPlain(page, numbers);
  else {
    page.appendUint8(bits);
    appendRuns(page, numbers, bits);
  }
  // Packed numbers do not shrink any further.
  const isShrunk = isCompressed && bits === null;
  const [levels, values] = [page.getBytes().subarray(0, levelsSize), page.getBytes().subarray(levelsSize)];
  const bytes = isShrunk ? snappyCompress(values) : values;
  const start = out.offset;
  writePageHeader(out, {
    type: 'DATA_PAGE_V2',
    uncompressed_page_size: page.offset,
    compressed_page_size: levelsSize + bytes.length,
    data_page_header_v2: {
      num_values: valuesOf(content),
      num_nulls: valuesOf(content) - numbers.length,
      num_rows: rows,
      encoding: bits === null ? 'PLAIN' : 'RLE_DICTIONARY',
      definition_levels_byte_length: definitionSize,
      repetition_levels_byte_length: repetitionSize,
      is_compressed: isShrunk || !isCompressed,
    },
  });
  const headerSize = out.offset - start;
  out.appendBytes(levels);
  out.appendBytes(bytes);
  return headerSize + page.offset;
}
