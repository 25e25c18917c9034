/** A sentence as its writer wrote it: data, never what is approved. */
export function Quotation({ sentence }: { sentence: string | undefined }) {
  if (sentence === undefined || sentence.trim() === '') return null;
  return (
    <figure class="quotation">
      <blockquote class="break">{sentence}</blockquote>
      <figcaption class="dim small">Sentence as written. The orders above decide.</figcaption>
    </figure>
  );
}
