/** Colors and fonts. Drawings use the same custom properties, so that one drawing serves every scheme. */
export const TOKENS = `
:root {
  color-scheme: light dark;
  --paper: #fff; --ink: #15181e; --ink-2: #5a6270; --ink-3: #9aa1ad; --hairline: #e7e9ed; --wash: #f6f7f9;
  --accent: #3b4cca; --bar: #b9c1ee; --bar-weekend: #e1e4f5; --hatch: #8791dc;
  --category-1: #3b4cca; --category-2: #7c86dd; --category-3: #c2762a; --category-4: #dba566; --others: #b4b9c2;
  --failed: #b3261e; --doubted: #8a5a00;
  --font: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", "DejaVu Sans", Arial, sans-serif;
  --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #101318; --ink: #e9ebef; --ink-2: #a2a9b6; --ink-3: #6d7582; --hairline: #262b34; --wash: #171b22;
    --accent: #97a3ff; --bar: #414c94; --bar-weekend: #272d4e; --hatch: #6b77c9;
    --category-1: #8d9aff; --category-2: #5a67cf; --category-3: #e0a05a; --category-4: #9a6a33; --others: #5d6470;
    --failed: #ff8a80; --doubted: #e7b75c;
  }
}
`;
