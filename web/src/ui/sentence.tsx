import { exactTime, shortTime } from './time.tsx';

const INSTANT = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/;

/** A sentence of the API, with its instants in the viewer's zone and the exact ones on hover. */
export function Sentence({ text }: { text: string }) {
  return (
    <>
      {text.split(INSTANT).map((part, index) =>
        index % 2 === 1 && !Number.isNaN(Date.parse(part)) ? (
          <time key={`${index} ${part}`} dateTime={part} title={exactTime(part)}>
            {shortTime(part)}
          </time>
        ) : (
          part
        ),
      )}
    </>
  );
}
