/** Longer texts are shown whole instead of compared line by line. */
const MAX_CELLS = 4_000_000;

/** Lines of the longest common subsequence stay, the others go or come. */
export function lineDiff(before: string, after: string): string[] {
  const [old, fresh] = [linesOf(before), linesOf(after)];
  if (old.length * fresh.length > MAX_CELLS)
    return [...old.map((line) => `-${line}`), ...fresh.map((line) => `+${line}`)];
  const width = fresh.length + 1;
  const length = new Uint32Array((old.length + 1) * width);
  const at = (i: number, j: number) => length[i * width + j] ?? 0;
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = fresh.length - 1; j >= 0; j--) {
      length[i * width + j] = old[i] === fresh[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const out: string[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < fresh.length) {
    if (i < old.length && j < fresh.length && old[i] === fresh[j]) {
      out.push(` ${old[i]}`);
      i += 1;
      j += 1;
    } else if (i < old.length && (j >= fresh.length || at(i + 1, j) >= at(i, j + 1))) out.push(`-${old[i++]}`);
    else out.push(`+${fresh[j++]}`);
  }
  return out;
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}
