import './skeleton.css';

/** Lines in place of what is being read, from 150 ms on: what is there at once is not announced. */
export function Skeleton({ text }: { text: string }) {
  return (
    <div class="skeleton" role="status">
      <span class="visually-hidden">{text}</span>
      <span />
      <span />
      <span />
    </div>
  );
}
