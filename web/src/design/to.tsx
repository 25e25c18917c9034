/** The arrow between two ends, read aloud as a word. */
export function To() {
  return (
    <>
      <span aria-hidden="true">→</span>
      <span class="visually-hidden">to</span>
    </>
  );
}
