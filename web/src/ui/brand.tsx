export function Brand() {
  return (
    <span class="brand">
      <svg width="20" height="20" viewBox="0 0 16 16" aria-hidden="true">
        <path d="M8 1l7 7-7 7-7-7z" fill="none" stroke="var(--accent)" stroke-width="2" />
        <circle cx="8" cy="8" r="2.2" fill="var(--accent)" />
      </svg>
      Mesh
    </span>
  );
}
