import { diffLines } from 'diff';
import './yaml-diff.css';
import { Code } from '../ui/code.tsx';

/** Lines around what differs. */
const CONTEXT = 3;

interface Line {
  readonly mark: '+' | '-' | ' ';
  readonly text: string;
}

/** Two versions of a record as one text: lines that go, lines that come, and what is around them. */
export function YamlDiff({ before, after }: { before: string; after: string }) {
  const lines = diffLines(before, after).flatMap(({ value, added, removed }) =>
    value
      .replace(/\n$/, '')
      .split('\n')
      .map((text): Line => ({ mark: added ? '+' : removed ? '-' : ' ', text })),
  );
  return (
    <Code look="diff">
      {lines.map((line, index) => {
        if (!isNear(lines, index)) return isNear(lines, index - 1) ? <span key={index}>{'  …\n'}</span> : null;
        return <DiffLine key={index} line={line} />;
      })}
    </Code>
  );
}

function DiffLine({ line: { mark, text } }: { line: Line }) {
  const whole = `${mark} ${text}\n`;
  if (mark === ' ') return <span>{whole}</span>;
  return mark === '+' ? <ins>{whole}</ins> : <del>{whole}</del>;
}

function isNear(lines: readonly Line[], index: number): boolean {
  return lines.slice(Math.max(0, index - CONTEXT), index + CONTEXT + 1).some(({ mark }) => mark !== ' ');
}
