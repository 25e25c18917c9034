const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const WHOLE = /^(?:\d{1,12}(?:ms|s|m|h|d)){1,8}$/;
const PART = /(\d{1,12})(ms|s|m|h|d)/g;

/**
 * Reads a duration such as `90s`, `24h` or `1h30m`.
 *
 * @returns milliseconds, above 0 and exact; undefined when the text is no duration.
 */
export function parseDuration(text: string): number | undefined {
  if (!WHOLE.test(text)) return undefined;
  let total = 0;
  for (const [, count, unit] of text.matchAll(PART)) total += Number(count) * (UNIT_MS[unit ?? ''] ?? Number.NaN);
  return total > 0 && Number.isSafeInteger(total) ? total : undefined;
}

/** The shortest text that {@link parseDuration} reads back: `5400000` becomes `1h30m`. */
export function formatDuration(ms: number): string {
  let rest = ms;
  let text = '';
  for (const unit of ['d', 'h', 'm', 's', 'ms']) {
    const size = UNIT_MS[unit] ?? 1;
    const count = Math.floor(rest / size);
    if (count > 0) text += `${count}${unit}`;
    rest -= count * size;
  }
  return text || '0ms';
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** For messages: down to whole seconds, from an hour on to whole minutes. `7199989` becomes `1h59m`. */
export function roughDuration(ms: number): string {
  const unit = ms >= HOUR_MS ? MINUTE_MS : SECOND_MS;
  return ms < SECOND_MS ? 'less than 1s' : formatDuration(ms - (ms % unit));
}
