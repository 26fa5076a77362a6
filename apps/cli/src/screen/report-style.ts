/** The style of the HTML report: for screens of all sizes, light and dark, and for paper. */
export const REPORT_STYLE = `
:root{color-scheme:light dark;--page:#f4f5f7;--sheet:#fff;--tint:#f7f8fa;--ink:#16202b;--quiet:#566270;--line:#dce1e7;
--accent:#1d5fb8;--same:#1d5fb8;--alike:#a85a00;--alike-tint:#fdebd2;--alert:#b3261e;--clear:#1f7a45}
@media (prefers-color-scheme:dark){:root{--page:#0f1419;--sheet:#181f27;--tint:#1e2730;--ink:#e6ebf0;--quiet:#9aa7b5;--line:#2e3945;
--accent:#7db4f5;--same:#7db4f5;--alike:#f0ae5e;--alike-tint:#4a3413;--alert:#ff8a80;--clear:#6fcf97}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--page);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;overflow-wrap:anywhere}
main{max-width:64rem;margin:0 auto;padding:2.5rem 1.25rem 4rem}
h1,h2,h3,h4,p,dl,dd,ul{margin:0;padding:0}
ul{list-style:none}
h1{font-size:1.9rem;line-height:1.2;letter-spacing:-.01em}
h2{font-size:1.15rem;margin:2.75rem 0 .85rem}
h3,h4{font-size:1.1rem;line-height:1.3}
a{color:var(--accent)}
code{font:.86em ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
.quiet{color:var(--quiet)}
.kicker{color:var(--quiet);font-size:.9rem;margin-bottom:.2rem}
.nowrap{white-space:nowrap}
.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(11rem,auto));gap:.9rem 2rem;margin-top:1.4rem}
dt{color:var(--quiet);font-size:.82rem}
.figures{display:grid;grid-template-columns:repeat(5,auto);margin-top:1.6rem;background:var(--sheet);border:1px solid var(--line);border-radius:10px;overflow:hidden}
.figures li{padding:.9rem 1.1rem;color:var(--quiet);font-size:.88rem;line-height:1.3;box-shadow:-1px -1px 0 var(--line)}
.figures b{display:block;white-space:nowrap;color:var(--ink);font-size:1.7rem;line-height:1.2;font-weight:650;font-variant-numeric:tabular-nums}
.figures .alert b{color:var(--alert)}
.figures .clear b{color:var(--clear)}
.figures .remark b{color:var(--alike)}
.none{margin-top:1.4rem;font-size:1.1rem;color:var(--clear);font-weight:600}
.intro{color:var(--quiet);margin:-.4rem 0 .8rem}
.scroll{overflow-x:auto;background:var(--sheet);border:1px solid var(--line);border-radius:10px}
table{border-collapse:collapse;width:100%;font-size:.94rem}
th,td{text-align:start;padding:.5rem .9rem;vertical-align:top;overflow-wrap:normal}
th{color:var(--quiet);font-weight:500;font-size:.82rem;border-bottom:1px solid var(--line)}
tbody tr+tr td{border-top:1px solid var(--line)}
.number{font-variant-numeric:tabular-nums;text-align:end}
.card{display:grid;grid-template-columns:15rem minmax(0,1fr);background:var(--sheet);border:1px solid var(--line);border-radius:10px;margin-top:1rem;overflow:clip;scroll-margin-top:1rem}
.card:target{border-color:var(--accent);box-shadow:0 0 0 1px var(--accent)}
.person{background:var(--tint);padding:1.25rem;border-inline-end:1px solid var(--line)}
.stay{position:sticky;top:1.25rem}
.person dl{display:grid;gap:.55rem;margin-top:.9rem}
dd{line-height:1.4}
.entry{padding:1.25rem}
.entry+.entry,.entry+.more{border-top:1px solid var(--line)}
.title{display:flex;justify-content:space-between;gap:1rem;align-items:baseline}
.score{white-space:nowrap;font-size:.82rem}
.score b{font-size:1.25rem;font-variant-numeric:tabular-nums}
.alias{color:var(--quiet);font-size:.92rem}
.entry dl{display:grid;grid-template-columns:repeat(auto-fill,minmax(12rem,1fr));gap:.7rem 1.5rem;margin-top:1rem;font-size:.94rem}
.source{font-size:.86em}
.alignment{display:flex;gap:.9rem;margin:.9rem 0 .2rem}
.alignment ul{display:flex;flex-wrap:wrap;gap:.75rem .6rem;min-width:0}
.sides{flex:none;display:flex;flex-direction:column;justify-content:space-between;color:var(--quiet);font-size:.78rem;padding:.3rem 0;max-height:6.1rem}
.pair{display:grid;grid-template-rows:auto 1fr auto;justify-items:stretch;text-align:center;min-width:5.2rem;max-width:100%}
.pair bdi{padding:.22rem .6rem;border:1px solid var(--line);border-radius:6px;background:var(--tint)}
.kind{position:relative;color:var(--quiet);font-size:.76rem;line-height:1.2;padding:.5rem .3rem}
.kind::before,.kind::after{content:"";position:absolute;left:50%;height:.4rem;border-left:2px solid var(--line)}
.kind::before{top:0}
.kind::after{bottom:0}
.same .kind::before,.same .kind::after{border-color:var(--same)}
.alike .kind{color:var(--alike)}
.alike .kind::before,.alike .kind::after{border-color:var(--alike);border-left-style:dashed}
.alone bdi{border-style:dashed;background:none}
.alone .kind::before,.alone .kind::after{display:none}
mark{background:var(--alike-tint);color:var(--alike);border-radius:2px;font-weight:650}
.notes{margin-top:.8rem;font-size:.94rem}
.notes li{display:flex;gap:.6rem}
.sign{flex:none;min-width:3.6rem;font-variant-numeric:tabular-nums;color:var(--quiet)}
.for .sign{color:var(--alert)}
.against .sign{color:var(--clear)}
.more{padding:.8rem 1.25rem;color:var(--quiet)}
.decision{display:none}
.remarks{display:grid;gap:.8rem}
.remarks b{font-weight:600}
footer{margin-top:3rem;padding-top:1.2rem;border-top:1px solid var(--line);color:var(--quiet);font-size:.9rem;display:grid;gap:.5rem;max-width:46rem}
@media (max-width:44rem){
main{padding:1.5rem .9rem 3rem}
h1{font-size:1.5rem}
.figures{grid-template-columns:repeat(2,1fr)}
.figures li:first-child{grid-column:1/-1}
.card{grid-template-columns:minmax(0,1fr)}
.person{border-inline-end:0;border-bottom:1px solid var(--line);padding:1rem}
.person dl{grid-template-columns:1fr 1fr}
.entry{padding:1rem}
.entry dl{grid-template-columns:1fr 1fr;gap:.7rem 1rem}
th,td{padding:.5rem .6rem}
td:first-child,td code{overflow-wrap:anywhere}
td:first-child{min-width:4.5rem}
.more{padding:.8rem 1rem}
.silenced thead{display:none}
.silenced tr{display:grid;grid-template-columns:auto 1fr auto;padding:.4rem 0}
.silenced tr+tr{border-top:1px solid var(--line)}
.silenced tr td{min-width:0;padding:.15rem .7rem;border:0}
.silenced td:nth-child(4){grid-column:1/3;order:1}
.silenced td:nth-child(5){grid-column:1/-1}
.silenced td:nth-child(6){order:2}
.silenced td:nth-child(6)::before{content:"until "}
.stay{position:static}
.wide{display:none}
.facts{grid-template-columns:1fr 1fr;gap:.8rem 1rem}
.facts div:last-child{grid-column:1/-1}
}
@media print{
:root{color-scheme:light;--page:#fff;--sheet:#fff;--tint:#fff;--ink:#000;--quiet:#444;--line:#bbb;--accent:#000;--same:#000;--alike:#000;--alike-tint:#ddd;--alert:#000;--clear:#000}
.stay{position:static}
@page{margin:16mm 14mm}
html{font-size:10pt}
body{font-size:1rem}
main{max-width:none;padding:0}
.card{grid-template-columns:11rem minmax(0,1fr);border-radius:0}
.entry,.person,tr{break-inside:avoid}
h2{break-after:avoid}
.scroll{overflow:visible;border-radius:0}
.decision{display:flex;gap:1.5rem;padding:.9rem 1.25rem;border-top:1px solid var(--line)}
.decision .line{flex:1;border-bottom:1px solid #000;color:var(--quiet);font-size:.8em}
}
`
