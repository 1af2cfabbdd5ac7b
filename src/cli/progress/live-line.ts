const RETURN_AND_CLEAR = '\r\u001b[2K';

/** A line at the bottom of a terminal that is drawn again in place, with lines of text going by above it. */
export interface LiveLine {
  /** Shows this text on the line; it must be free of line breaks and narrower than the terminal. */
  show(text: string): void;
  /** Writes a line above. */
  printAbove(line: string): void;
  /** Removes the line, so that what follows starts on a clean one. */
  clear(): void;
}

/** A live line on an output that understands ANSI control codes. */
export function createLiveLine(write: (text: string) => void): LiveLine {
  let shown = '';
  return {
    show: (text) => {
      if (text === shown) return;
      write(RETURN_AND_CLEAR + text);
      shown = text;
    },
    printAbove: (line) => {
      // One write for all three, so that the terminal never shows the state between.
      write(shown === '' ? `${line}\n` : `${RETURN_AND_CLEAR}${line}\n${shown}`);
    },
    clear: () => {
      if (shown !== '') write(RETURN_AND_CLEAR);
      shown = '';
    },
  };
}
