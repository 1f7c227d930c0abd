# Formula of dissent for Homebrew. REPOSITORY_URL and the checksum are those of a published release.
class Dissent < Formula
  desc "Labels and models from annotator disagreement"
  homepage "REPOSITORY_URL"
  url "REPOSITORY_URL/releases/download/v0.2.0/dissent_labels-0.2.0.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license "Apache-2.0"

  depends_on "cmake" => :build
  depends_on "ninja" => :build
  depends_on "libyaml"
  depends_on "zstd"
  uses_from_macos "sqlite"
  uses_from_macos "zlib"

  def install
    options = %w[-DDIS_TESTS=OFF -DDIS_BENCH=OFF -DDIS_PYTHON=OFF -DDIS_CUDA=OFF -DDIS_MPI=OFF]
    system "cmake", "-S", ".", "-B", "build", "-G", "Ninja", *options, *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
  end

  test do
    system bin/"dissent", "synth", "-q", "--items", "50", "-o", "votes.csv"
    system bin/"dissent", "labels", "votes.csv", "-o", "labels.csv"
    assert_match "task,label,entropy", (testpath/"labels.csv").read
  end
end
